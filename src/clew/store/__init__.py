"""PostgreSQL: the embedded server, the pool, a tenant's transaction, the walls between tenants, migrations, named SQL.

`Database` is the way in; import it from `clew`. This file imports nothing, so that the embedded server's keeper, a
process of its own inside this package, starts in milliseconds.
"""
