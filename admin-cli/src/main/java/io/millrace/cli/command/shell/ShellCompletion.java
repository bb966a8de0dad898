package io.millrace.cli.command.shell;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine.Model.CommandSpec;

/** Completes the last word of a line with commands, options and their values. Immutable. */
final class ShellCompletion {
    private final CommandSpec root;

    ShellCompletion(CommandSpec root) {
        this.root = root;
    }

    /** Returns the whole words that can stand in place of the last one, sorted. */
    List<String> candidates(String line) {
        ShellWords given = ShellWords.of(line);
        if (given.isOpen()) {
            return List.of();
        }
        List<String> words = new ArrayList<>(given.words());
        String begun = given.endsInWord() ? words.get(words.size() - 1) : "";
        if (!given.endsInWord()) {
            words.add("");
        }
        if (words.size() > 1 && (words.get(0).equals("help") || words.get(0).equals("millctl"))) {
            words.remove(0);
        }
        List<CharSequence> rests = new ArrayList<>();
        AutoComplete.complete(
                root, words.toArray(new String[0]), words.size() - 1, begun.length(), line.length(), rests);
        List<String> candidates = new ArrayList<>();
        for (CharSequence rest : rests) {
            String candidate = begun + rest;
            // Options are offered only after a hyphen, so that the list of commands stays short.
            if (!candidates.contains(candidate) && (begun.startsWith("-") || !candidate.startsWith("-"))) {
                candidates.add(candidate);
            }
        }
        Collections.sort(candidates);
        return candidates;
    }

    /** Returns the longest text with which all candidates begin. */
    static String common(List<String> candidates) {
        String common = candidates.isEmpty() ? "" : candidates.get(0);
        for (String candidate : candidates) {
            int length = 0;
            while (length < Math.min(common.length(), candidate.length())
                    && common.charAt(length) == candidate.charAt(length)) {
                length++;
            }
            common = common.substring(0, length);
        }
        return common;
    }
}
