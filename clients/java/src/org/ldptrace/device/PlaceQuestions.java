package org.ldptrace.device;

import java.util.Arrays;

/** Questions about the cells of a path. */
final class PlaceQuestions {
    private static final String[] TURNS = {
        "straight on", "a bend of 45 degrees", "a bend of 90 degrees", "a bend of 135 degrees", "back"
    };

    private static final String[] TRIPS = {"1 trip", "2 trips", "3 trips", "4 to 5 trips", "6 trips or more"};

    private static final int MOST_DISTRICTS = 32;

    private PlaceQuestions() {}

    /** The question of this name, or null if it is not about places. */
    static Question of(int n, String name, Fields fields) throws PlanRefused {
        switch (name) {
            case "length":
                return new Length(n, count(fields, "cap", 2));
            case "start":
                fields.only("name");
                return new Cell(name, "the cell where it begins", n, 1);
            case "end":
                fields.only("name");
                return new Cell(name, "the cell where it ends", n, Integer.MAX_VALUE);
            case "cut-end":
                return new Cell(name, "the cell where it ends, or is cut off", n, count(fields, "cells", 1));
            case "terminals":
                fields.only("name");
                return new Terminals(n);
            case "visits":
                return new Visits(n, Question.most(fields, Grid.cells(n)));
            case "moves":
                return new Moves(n, Question.most(fields, Grid.moves(n)));
            case "links":
                return new Links(n, Question.most(fields, Grid.links(n)));
            case "pairs":
                return new Pairs(n, fields.only("districts", "name").integer("districts", 2, Math.min(n, MOST_DISTRICTS)));
            case "bends":
                return new Bends(n, Question.most(fields, Grid.bends(n)));
            case "turns":
                fields.only("name");
                return new Turns(n);
            case "trips":
                fields.only("name");
                return new Trips(n);
            case "steps":
                return new Steps(n, count(fields, "count", 1));
            case "combined-steps":
                return new CombinedSteps(n, count(fields, "count", 1));
            default:
                return null;
        }
    }

    private static int count(Fields fields, String key, int low) throws PlanRefused {
        return fields.only(key, "name").integer(key, low, Question.MOST_COUNT);
    }

    /** Move numbers of the first steps of a path, at most `count`. */
    private static int[] moves(int[] path, int n, int count) {
        int[] moves = new int[Math.max(Math.min(path.length - 1, count), 0)];
        for (int k = 0; k < moves.length; k++) {
            moves[k] = Grid.move(path[k], path[k + 1], n);
        }
        return moves;
    }

    private static final class Length extends Question {
        Length(int n, int cap) {
            super("length", "how many cells the trajectory crosses", n, cap, 1, 1);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            return one(Math.min(trip.path.length, domain) - 1);
        }

        @Override
        public String words(int item) {
            String cells = item == 0 ? "1 cell" : item + 1 + " cells";
            return item + 1 == domain ? cells + " or more" : cells;
        }
    }

    /** The cell with number min(length, cells) - 1. */
    private static final class Cell extends Question {
        private final int cells;

        Cell(String name, String about, int n, int cells) {
            super(name, about, n, Grid.cells(n), 1, 1);
            this.cells = cells;
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            return one(trip.path[Math.min(trip.path.length, cells) - 1]);
        }

        @Override
        public String words(int item) {
            return cellWords(item);
        }
    }

    private static final class Terminals extends Question {
        Terminals(int n) {
            super("terminals", "the two cells where it begins and ends, without saying which is which", n, Grid.cells(n), 2, 1);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            return one(set(trip.path[0], trip.path[trip.path.length - 1]));
        }

        @Override
        public String words(int item) {
            return cellWords(item);
        }
    }

    private static final class Visits extends Question {
        Visits(int n, int most) {
            super("visits", "some of the cells it crosses", n, Grid.cells(n), most, 1);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            return one(pick(trip.path, capacity, source));
        }

        @Override
        public String words(int item) {
            return cellWords(item);
        }
    }

    private static final class Moves extends Question {
        Moves(int n, int most) {
            super("moves", "some of the moves from cell to cell it makes", n, Grid.moves(n), most, 1);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            return one(pick(moves(trip.path, n, Integer.MAX_VALUE), capacity, source));
        }

        @Override
        public String words(int item) {
            return moveWords(item);
        }
    }

    private static final class Links extends Question {
        Links(int n, int most) {
            super("links", "some of the pairs of neighbouring cells it connects, without direction", n, Grid.links(n), most, 1);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            int[] links = new int[trip.path.length - 1];
            for (int k = 0; k < links.length; k++) {
                links[k] = Grid.link(trip.path[k], trip.path[k + 1], n);
            }
            return one(pick(links, capacity, source));
        }

        @Override
        public String words(int item) {
            int[] ends = Grid.ends(item, n, true);
            return "between " + cellWords(ends[0]) + " and " + cellWords(ends[1]);
        }
    }

    private static final class Pairs extends Question {
        private final int districts;

        Pairs(int n, int districts) {
            super(
                    "pairs",
                    "the two districts where it begins and ends, together",
                    n,
                    districts * districts * districts * districts,
                    1,
                    1);
            this.districts = districts;
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            int begin = Grid.district(trip.path[0], n, districts);
            return one(begin * districts * districts + Grid.district(trip.path[trip.path.length - 1], n, districts));
        }

        @Override
        public String words(int item) {
            int all = districts * districts;
            return "from " + districtWords(item / all) + " to " + districtWords(item % all);
        }

        private String districtWords(int district) {
            return "district " + district / districts + "," + district % districts;
        }
    }

    private static final class Bends extends Question {
        Bends(int n, int most) {
            super(
                    "bends",
                    "some of the cells it crosses, each with the cells before and after it, without direction",
                    n,
                    Grid.bends(n),
                    most,
                    1);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            int[] bends = new int[Math.max(trip.path.length - 2, 0)];
            for (int k = 0; k < bends.length; k++) {
                bends[k] = Grid.bend(trip.path[k], trip.path[k + 1], trip.path[k + 2], n);
            }
            return one(pick(bends, capacity, source));
        }

        @Override
        public String words(int item) {
            int[] cells = Grid.bendCells(item, n);
            return cellWords(cells[1]) + " between " + cellWords(cells[0]) + " and " + cellWords(cells[2]);
        }
    }

    private static final class Turns extends Question {
        Turns(int n) {
            super("turns", "how sharply it bends at one random place", n, TURNS.length, 1, 1);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            int[] path = trip.path;
            if (path.length < 3) {
                return one();
            }
            int first = source.below(path.length - 2);
            return one(Grid.turn(path[first], path[first + 1], path[first + 2], n));
        }

        @Override
        public String words(int item) {
            return TURNS[item];
        }
    }

    /** How many trips there were to choose from. */
    private static final class Trips extends Question {
        Trips(int n) {
            super("trips", "how many trips there were", n, TRIPS.length, 1, 1);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            return one(trip.trips < 4 ? trip.trips - 1 : trip.trips < 6 ? 3 : 4);
        }

        @Override
        public String words(int item) {
            return TRIPS[item];
        }
    }

    private static final class Steps extends Question {
        Steps(int n, int count) {
            super("steps", "its first moves from cell to cell, in order", n, Grid.moves(n), 1, count);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            return inOrder(trip.path, n, slots, 0, slots);
        }

        @Override
        public String words(int item) {
            return moveWords(item);
        }
    }

    private static final class CombinedSteps extends Question {
        CombinedSteps(int n, int count) {
            super(
                    "combined-steps",
                    "its beginning, first moves and end, in order",
                    n,
                    Grid.moves(n) + 2 * Grid.cells(n),
                    1,
                    count + 2);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            int[] path = trip.path;
            int[][] found = inOrder(path, n, slots - 2, 1, slots);
            found[0] = new int[] {Grid.moves(n) + path[0]};
            int last = path[Math.min(path.length, slots - 1) - 1];
            found[slots - 1] = new int[] {Grid.moves(n) + Grid.cells(n) + last};
            return found;
        }

        @Override
        public String words(int item) {
            int cell = item - Grid.moves(n);
            if (cell < 0) {
                return moveWords(item);
            }
            return cell < Grid.cells(n) ? "beginning in " + cellWords(cell) : "end in " + cellWords(cell - Grid.cells(n));
        }
    }

    /** Slots of which those from `first` on hold the moves in order, at most `count`; the others are empty. */
    private static int[][] inOrder(int[] path, int n, int count, int first, int slots) {
        int[][] found = new int[slots][];
        Arrays.fill(found, Question.NOTHING);
        int[] moves = moves(path, n, count);
        for (int k = 0; k < moves.length; k++) {
            found[first + k] = new int[] {moves[k]};
        }
        return found;
    }
}
