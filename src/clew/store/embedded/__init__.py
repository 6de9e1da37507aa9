"""A PostgreSQL of our own, for people who have none.

server.py     what a process that wants the server does: take a lease, start the keeper, get the connection string
keeper.py     the process that runs PostgreSQL while anybody holds a lease, and stops it after the last one
cluster.py    the files: where the binaries are, making the data folder, its version and its secret
identity.py   which user PostgreSQL runs as when we are root, and how to become it
"""
