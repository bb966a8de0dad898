package io.millrace.cli.command.shell;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine.Model.CommandSpec;

/** Finds the commands, options and values that complete the last word of a line. Immutable. */
final class ShellCompletion {
    private final CommandSpec root;

    ShellCompletion(CommandSpec root) {
        this.root = root;
    }

    /** Returns the candidates for the last word, as complete words in alphabetical order. */
    List<String> candidates(String line) {
        ShellWords given = ShellWords.of(line);
        if (given.isOpen()) {
            return List.of();
        }
        List<String> words = new ArrayList<>(given.words());
        String wordPrefix = given.endsInWord() ? words.get(words.size() - 1) : "";
        if (!given.endsInWord()) {
            words.add("");
        }
        if (words.size() > 1 && (words.get(0).equals("help") || words.get(0).equals("millctl"))) {
            words.remove(0);
        }
        List<CharSequence> suffixes = new ArrayList<>();
        AutoComplete.complete(
                root, words.toArray(new String[0]), words.size() - 1, wordPrefix.length(), line.length(), suffixes);
        List<String> candidates = new ArrayList<>();
        for (CharSequence suffix : suffixes) {
            String candidate = wordPrefix + suffix;
            // Options are offered only after a hyphen, so that the list of commands stays short.
            if (!candidates.contains(candidate) && (wordPrefix.startsWith("-") || !candidate.startsWith("-"))) {
                candidates.add(candidate);
            }
        }
        Collections.sort(candidates);
        return candidates;
    }

    /** Returns the longest common prefix of the candidates. */
    static String commonPrefix(List<String> candidates) {
        String commonPrefix = candidates.isEmpty() ? "" : candidates.get(0);
        for (String candidate : candidates) {
            int length = 0;
            while (length < Math.min(commonPrefix.length(), candidate.length())
                    && commonPrefix.charAt(length) == candidate.charAt(length)) {
                length++;
            }
            commonPrefix = commonPrefix.substring(0, length);
        }
        return commonPrefix;
    }
}
