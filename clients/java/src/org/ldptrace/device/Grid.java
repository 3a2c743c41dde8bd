package org.ldptrace.device;

import java.util.Arrays;

/** The public grid of a plan: n x n cells over bounds, moves, links and bends between them. Section 4 of the protocol. */
public strictfp final class Grid {
    private static final double PAD = 0.000001;
    private static final int[] DI = {-1, 0, 1, -1, 1, -1, 0, 1};
    private static final int[] DJ = {1, 1, 1, 0, 0, -1, -1, -1};
    private static final int[] HEADING = {3, 2, 1, 4, 0, 5, 6, 7};

    public final int n;
    private final double[] bounds;
    private final Axis x;
    private final Axis y;

    /** Bounds are x0, y0, x1, y1. */
    Grid(double[] bounds, int n) {
        this.n = n;
        this.bounds = bounds.clone();
        x = new Axis(bounds[0], bounds[2], n);
        y = new Axis(bounds[1], bounds[3], n);
    }

    /** x0, y0, x1, y1. */
    public double[] bounds() {
        return bounds.clone();
    }

    /** One axis of the grid. */
    private static final class Axis {
        private final double origin;
        private final double step;
        private final int n;

        Axis(double low, double high, int n) {
            origin = low - PAD;
            step = ((high + PAD) - origin) / n;
            this.n = n;
        }

        /** Index of the cell that holds the coordinate; on a border the lower one, outside the nearest. */
        int index(double value) {
            double position = (value - origin) / step;
            if (!(position > 0)) {
                return 0;
            }
            if (position >= n) {
                return n - 1;
            }
            int index = (int) position;
            return index > 0 && value <= (origin + step * (index - 1)) + step ? index - 1 : index;
        }
    }

    /** Cells of a trajectory, neighbours next to each other. */
    int[] path(Trajectory points) {
        int[] path = new int[Math.max(points.size(), 16)];
        int length = 0;
        int i = 0;
        int j = 0;
        for (int k = 0; k < points.size(); k++) {
            int toI = x.index(points.x(k));
            int toJ = y.index(points.y(k));
            if (k == 0) {
                i = toI;
                j = toJ;
                path[length++] = i * n + j;
            }
            while (i != toI || j != toJ) {
                i += Integer.signum(toI - i);
                j += Integer.signum(toJ - j);
                if (length == path.length) {
                    path = Arrays.copyOf(path, 2 * length);
                }
                path[length++] = i * n + j;
            }
        }
        return Arrays.copyOf(path, length);
    }

    static int cells(int n) {
        return n * n;
    }

    static int moves(int n) {
        return 8 * n * n - 12 * n + 4;
    }

    static int links(int n) {
        return moves(n) / 2;
    }

    /** Number of the move between two adjacent cells. */
    static int move(int here, int there, int n) {
        int i = here / n;
        int j = here % n;
        int item = movesBefore(i, j, n);
        int own = direction(here, there, n);
        for (int number = 0; number < own; number++) {
            item += isOn(i + DI[number], j + DJ[number], n) ? 1 : 0;
        }
        return item;
    }

    /** Number of the link between two adjacent cells. */
    static int link(int here, int there, int n) {
        int low = Math.min(here, there);
        int high = Math.max(here, there);
        int item = linksBefore(low / n, low % n, n);
        int own = direction(low, high, n);
        for (int number = 0; number < own; number++) {
            boolean up = DI[number] * n + DJ[number] > 0;
            item += up && isOn(low / n + DI[number], low % n + DJ[number], n) ? 1 : 0;
        }
        return item;
    }

    static int bends(int n) {
        return 36 * n * n - 84 * n + 48;
    }

    /** Number of two consecutive moves without their direction. */
    static int bend(int before, int here, int after, int n) {
        int first = move(here, before, n) - movesBefore(here / n, here % n, n);
        int second = move(here, after, n) - movesBefore(here / n, here % n, n);
        int high = Math.max(first, second);
        return bendsBefore(here, n) + high * (high + 1) / 2 + Math.min(first, second);
    }

    /** The cells before, in and after the bend with this number. */
    static int[] bendCells(int item, int n) {
        int here = 0;
        while (here + 1 < n * n && bendsBefore(here + 1, n) <= item) {
            here++;
        }
        int low = item - bendsBefore(here, n);
        int high = 0;
        while (low > high) {
            low -= ++high;
        }
        int first = movesBefore(here / n, here % n, n);
        return new int[] {ends(first + low, n, false)[1], here, ends(first + high, n, false)[1]};
    }

    /** Number of the district that holds a cell. */
    static int district(int cell, int n, int districts) {
        return cell / n * districts / n * districts + cell % n * districts / n;
    }

    /** Angle between two consecutive moves in eighths of a full turn: 0 (straight on) to 4 (back). */
    static int turn(int first, int second, int third, int n) {
        int bend = HEADING[direction(second, third, n)] - HEADING[direction(first, second, n)] + 8 & 7;
        return bend > 4 ? 8 - bend : bend;
    }

    /** Both ends of the move or link with this number. */
    static int[] ends(int item, int n, boolean links) {
        int before = 0;
        for (int cell = 0; cell < n * n; cell++) {
            for (int number = 0; number < 8; number++) {
                int i = cell / n + DI[number];
                int j = cell % n + DJ[number];
                if (isOn(i, j, n) && (!links || i * n + j > cell) && before++ == item) {
                    return new int[] {cell, i * n + j};
                }
            }
        }
        throw new IllegalArgumentException("there is no item " + item);
    }

    /** Moves out of all cells before (i, j): the pairs of cells that are near on both axes, without the stays. */
    private static int movesBefore(int i, int j, int n) {
        return nearBefore(i) * (3 * n - 2) + near(i, n) * nearBefore(j) - (i * n + j);
    }

    /** Links that begin in cells before (i, j): one to the next j, and those to the next i. */
    private static int linksBefore(int i, int j, int n) {
        int along = i * (n - 1) + j;
        int across = i * (3 * n - 2) + (i < n - 1 ? nearBefore(j) : 0);
        return along + across;
    }

    /** Bends in all cells before this one: a cell has 6 in a corner, 15 on a side, and 36 elsewhere. */
    private static int bendsBefore(int cell, int n) {
        int i = cell / n;
        int j = cell % n;
        boolean side = i == 0 || i == n - 1;
        int rows = i * (36 * n - 42) - (i == 0 ? 0 : 21 * n - 24);
        return j == 0 ? rows : rows + (side ? 6 : 15) + (j - 1) * (side ? 15 : 36);
    }

    /** How many of an index and its two neighbours are on the grid. */
    private static int near(int index, int n) {
        return index == 0 || index == n - 1 ? 2 : 3;
    }

    /** The same for all smaller indices together. */
    private static int nearBefore(int index) {
        return index == 0 ? 0 : 3 * index - 1;
    }

    private static boolean isOn(int i, int j, int n) {
        return i >= 0 && i < n && j >= 0 && j < n;
    }

    private static int direction(int here, int there, int n) {
        int di = there / n - here / n;
        int dj = there % n - here % n;
        return dj == 1 ? di + 1 : dj == 0 ? (di < 0 ? 3 : 4) : di + 6;
    }
}
