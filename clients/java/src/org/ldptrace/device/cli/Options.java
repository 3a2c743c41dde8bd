package org.ldptrace.device.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What was written after the command's name: options with one value each, and other words. */
final class Options {
    private final Map<String, List<String>> values = new HashMap<>();

    /** Reads options of these names; `-o` is short for `--output`. */
    Options(List<String> arguments, String... names) throws Misuse {
        List<String> known = Arrays.asList(names);
        for (int i = 0; i < arguments.size(); i += 2) {
            String given = arguments.get(i).equals("-o") ? "--output" : arguments.get(i);
            if (!given.startsWith("--") || !known.contains(given.substring(2))) {
                throw new Misuse("options of this command are --" + String.join(", --", known) + ", got " + arguments.get(i));
            }
            if (i + 1 == arguments.size()) {
                throw new Misuse(given + " needs a value");
            }
            values.computeIfAbsent(given.substring(2), name -> new ArrayList<>()).add(arguments.get(i + 1));
        }
    }

    /** The command was called in a way that it does not know, or with a file that it cannot use. */
    static final class Misuse extends Exception {
        private static final long serialVersionUID = 1L;

        Misuse(String message) {
            super(message);
        }
    }

    List<String> all(String name) {
        return values.containsKey(name) ? values.get(name) : new ArrayList<>();
    }

    /** The value of an option, or null. */
    String value(String name) throws Misuse {
        List<String> found = all(name);
        if (found.size() > 1) {
            throw new Misuse("--" + name + " was given " + found.size() + " times, once is allowed");
        }
        return found.isEmpty() ? null : found.get(0);
    }

    String required(String name) throws Misuse {
        String value = value(name);
        if (value == null) {
            throw new Misuse("give --" + name);
        }
        return value;
    }

    /** A whole number from 1 on, or null. */
    Integer count(String name) throws Misuse {
        String value = value(name);
        if (value != null && !value.matches("[1-9][0-9]{0,8}")) {
            throw new Misuse("--" + name + " is a whole number from 1 on, got " + value);
        }
        return value == null ? null : Integer.valueOf(value);
    }
}
