package org.ldptrace.device;

import java.util.Arrays;

/** What is asked of a trip: a finite domain, and the items of it that the trip holds. Section 5 of the protocol. */
public abstract class Question {
    static final int[] NOTHING = {};
    private static final int MOST = 256;
    static final int MOST_COUNT = 65536;

    public final String name;
    /** What is asked, in words that follow "to the question about". */
    public final String about;
    /** Number of items. */
    public final int domain;
    /** Most items in a slot. */
    public final int capacity;
    /** Number of answers. */
    public final int slots;

    final int n;

    Question(String name, String about, int n, int domain, int capacity, int slots) {
        this.name = name;
        this.about = about;
        this.n = n;
        this.domain = domain;
        this.capacity = capacity;
        this.slots = slots;
    }

    /** The items of each slot, ascending, of a trip with at least one cell. */
    abstract int[][] answer(Occasion trip, Source source);

    /** What an item of the domain stands for. */
    public abstract String words(int item);

    /** Whether the answer says something of hours or speeds. */
    boolean isAboutTime() {
        return false;
    }

    /** The items of each slot; all slots are empty where there are no points. */
    final int[][] answers(Occasion trip, Source source) {
        if (trip.path.length > 0) {
            return answer(trip, source);
        }
        int[][] empty = new int[slots][];
        Arrays.fill(empty, NOTHING);
        return empty;
    }

    /** The question that a document describes. */
    static Question of(int n, Object document) throws PlanRefused {
        Fields fields = Fields.of(document, "a question");
        String name = fields.text("name", "[a-z-]{1,32}");
        Question time = TimeQuestions.of(n, name, fields);
        Question found = time == null ? PlaceQuestions.of(n, name, fields) : time;
        if (found == null) {
            throw PlanRefused.malformed("there is no question " + name);
        }
        return found;
    }

    /** The parameter `most` of a question about a set. */
    static int most(Fields fields, int items) throws PlanRefused {
        return fields.only("most", "name").integer("most", 1, Math.min(items, MOST));
    }

    /** The set of the entries, or of those at `most` random places where there are more. */
    static int[] pick(int[] list, int most, Source source) {
        if (list.length <= most) {
            return set(list);
        }
        int[] places = source.places(list.length, most);
        for (int i = 0; i < most; i++) {
            places[i] = list[places[i]];
        }
        return set(places);
    }

    /** Different entries, ascending. */
    static int[] set(int... entries) {
        int[] sorted = entries.clone();
        Arrays.sort(sorted);
        int count = 0;
        for (int i = 0; i < sorted.length; i++) {
            if (i == 0 || sorted[i] != sorted[i - 1]) {
                sorted[count++] = sorted[i];
            }
        }
        return Arrays.copyOf(sorted, count);
    }

    static int[][] one(int... items) {
        return new int[][] {items};
    }

    /** Name of a cell as on a chessboard: letters from west to east, numbers from south to north. */
    final String cellWords(int cell) {
        StringBuilder letters = new StringBuilder();
        for (int column = cell / n + 1; column > 0; column = (column - 1) / 26) {
            letters.insert(0, (char) ('A' + (column - 1) % 26));
        }
        return "cell " + letters + (cell % n + 1);
    }

    final String moveWords(int item) {
        int[] ends = Grid.ends(item, n, false);
        return "from " + cellWords(ends[0]) + " to " + cellWords(ends[1]);
    }
}
