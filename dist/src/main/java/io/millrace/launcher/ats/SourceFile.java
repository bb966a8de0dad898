package io.millrace.launcher.ats;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** One file of the directory, and which of its lines were accounted for. Confined to one thread. */
final class SourceFile {
    private final Path path;
    private final String name;
    private final List<String> lines;
    private final boolean[] claimed;
    private final List<Entry> entries = new ArrayList<>();
    private final List<String> problems;

    SourceFile(Path path, String name, String text, List<String> problems) {
        this.path = path;
        this.name = name;
        this.problems = problems;
        lines = text.lines().toList();
        claimed = new boolean[lines.size() + 2];
    }

    String name() {
        return name;
    }

    Path path() {
        return path;
    }

    List<String> lines() {
        return lines;
    }

    List<Entry> entries() {
        return entries;
    }

    /** A new entry for the lines from one to another, both included. */
    Entry entry(int from, int to, int column, String text) {
        Entry entry = new Entry(name, from, column, text.strip());
        entries.add(entry);
        claim(from, to);
        return entry;
    }

    /** Says that these lines are accounted for: they only hold others, or belong to another entry. */
    void claim(int from, int to) {
        for (int line = Math.max(1, from); line <= to && line < claimed.length; line++) {
            claimed[line] = true;
        }
    }

    /** What Traffic Server itself would refuse. */
    void problem(int line, int column, String message) {
        problems.add(path + ":" + line + ":" + column + ": " + message);
    }

    void problem(Entry entry, String message) {
        problem(entry.line(), entry.column(), message);
    }

    /** Nothing is dropped: lines that nobody accounted for are reported as such. */
    void sweep() {
        for (int i = 0; i < lines.size(); i++) {
            String text = lines.get(i).strip();
            if (!claimed[i + 1] && !text.isEmpty() && !text.startsWith("#")) {
                entry(i + 1, i + 1, 1, text).notMapped("is not understood");
            }
        }
        entries.sort((a, b) ->
                a.line() != b.line() ? Integer.compare(a.line(), b.line()) : Integer.compare(a.column(), b.column()));
    }
}
