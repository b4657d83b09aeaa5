"""Prints the Laplacian of a square grid as a Matrix Market file: laplace_mtx.py CELLS"""
import sys

n = int(sys.argv[1])
entries = []
for row in range(n * n):
    entries.append((row, row, 4.1))
    x, y = row % n, row // n
    entries += [(row, row + by, -1.0) for by, is_inside in ((-1, x > 0), (1, x < n - 1), (-n, y > 0), (n, y < n - 1))
                if is_inside]
print("%%MatrixMarket matrix coordinate real general")
print(n * n, n * n, len(entries))
for row, column, value in entries:
    print(row + 1, column + 1, value)
