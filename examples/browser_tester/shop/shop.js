const GOODS = [
  { id: "kettle", name: "Copper kettle", cents: 3990, hue: 22 },
  { id: "mug", name: "Stoneware mug", cents: 1250, hue: 200 },
  { id: "pot", name: "Glass teapot", cents: 2875, hue: 165 },
  { id: "tin", name: "Tea tin", cents: 845, hue: 45 },
  { id: "tray", name: "Oak tray", cents: 2160, hue: 32 },
  { id: "sieve", name: "Fine sieve", cents: 690, hue: 265 },
];
const SHIPPING = 490;
const basket = new Map();
const find = (selector) => document.querySelector(selector);
const euros = (cents) => "€" + (cents / 100).toFixed(2);

function picture(good) {
  const rings = Array.from({ length: 14 }, (_, n) =>
    `<circle cx="${60 + n * 13}" cy="${70 + Math.sin(n + good.hue) * 30}" r="${40 - n * 2}" fill="hsl(${good.hue + n * 9} 60% ${35 + n * 3}%)" opacity=".75"/>`);
  return `<svg viewBox="0 0 300 140" preserveAspectRatio="xMidYMid slice"><rect width="300" height="140" fill="hsl(${good.hue} 45% 88%)"/>${rings.join("")}</svg>`;
}

function shelf() {
  find("#shelf").innerHTML = GOODS.map((good) =>
    `<section class="card">${picture(good)}<b>${good.name}</b><span class="price">${euros(good.cents)}</span>
     <button id="add-${good.id}" data-good="${good.id}">Add to basket</button></section>`).join("");
  find("#shelf").addEventListener("click", (event) => {
    const id = event.target.dataset.good;
    if (id) { basket.set(id, (basket.get(id) ?? 0) + 1); draw(); }
  });
}

function sums() {
  const subtotal = GOODS.reduce((sum, good) => sum + good.cents * (basket.get(good.id) ?? 0), 0);
  const pieces = [...basket.values()].reduce((sum, count) => sum + count, 0);
  const shipping = pieces ? SHIPPING : 0;
  return { shipping, total: subtotal + shipping + (basket.size > 1 ? shipping : 0) };
}

function draw() {
  const lines = GOODS.filter((good) => basket.get(good.id)).map((good) =>
    `<li>${good.name}<input id="qty-${good.id}" data-qty="${good.id}" type="number" min="0" value="${basket.get(good.id)}"></li>`);
  find("#lines").innerHTML = lines.join("") || '<li class="empty">Nothing in it yet</li>';
  const { shipping, total } = sums();
  find("#shipping").textContent = euros(shipping);
  find("#total").textContent = euros(total);
  find("[data-checkout]").disabled = !lines.length;
}

find("#lines").addEventListener("change", (event) => {
  const id = event.target.dataset.qty;
  if (id) { basket.set(id, Math.max(0, Number(event.target.value))); draw(); }
});
// The build gives this button a new id on every load: a test that knows it by one breaks.
find("[data-checkout]").id = "cta-" + Math.random().toString(36).slice(2, 8);
find("[data-checkout]").addEventListener("click", () => { find("#order").hidden = false; find("#email").focus(); });
find("#order").addEventListener("submit", (event) => {
  event.preventDefault();
  console.log("paid " + find("#total").textContent);
  find("#thanks").hidden = false;
  find("#thanks").textContent = `Thank you. ${find("#total").textContent} was charged; a receipt goes to ${find("#email").value}.`;
});
shelf();
draw();
