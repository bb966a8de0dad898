package io.millrace.launcher.importing.source;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A source file of an import, which keeps track of its processed lines. Confined to one thread. */
public final class SourceFile {
    private final Path path;
    private final String name;
    private final List<String> lines;
    private final boolean[] processed;
    private final List<Entry> entries = new ArrayList<>();
    private final List<String> problems;

    /** Creates a file with a text. Adds problems of this file to {@code problems}. */
    public SourceFile(Path path, String name, String text, List<String> problems) {
        this.path = path;
        this.name = name;
        this.problems = problems;
        lines = text.lines().toList();
        processed = new boolean[lines.size() + 2];
    }

    /** Name within the directory. */
    public String name() {
        return name;
    }

    Path path() {
        return path;
    }

    /** The lines of the file. */
    public List<String> lines() {
        return lines;
    }

    /** The entries created so far. */
    public List<Entry> entries() {
        return entries;
    }

    /** Creates an entry for the lines {@code from} to {@code to}, both included. */
    public Entry entry(int from, int to, int column, String text) {
        Entry entry = new Entry(name, from, column, text.strip());
        entries.add(entry);
        markProcessed(from, to);
        return entry;
    }

    /**
     * Marks lines as processed without creating an entry. Examples are the key of a section and a comment.
     */
    public void markProcessed(int from, int to) {
        for (int line = Math.max(1, from); line <= to && line < processed.length; line++) {
            processed[line] = true;
        }
    }

    /** Reports an error in the file, which the other proxy would also report. The import fails then. */
    public void problem(int line, int column, String message) {
        problems.add(path + ":" + line + ":" + column + ": " + message);
    }

    /** Records a problem at an entry. */
    public void problem(Entry entry, String message) {
        problem(entry.line(), entry.column(), message);
    }

    /** Creates an entry for every line that was not processed, with the outcome "not mapped". */
    public void addUnprocessedLines() {
        for (int i = 0; i < lines.size(); i++) {
            String text = lines.get(i).strip();
            if (!processed[i + 1] && !text.isEmpty() && !text.startsWith("#")) {
                entry(i + 1, i + 1, 1, text).notMapped("the importer does not understand the line");
            }
        }
        entries.sort((a, b) ->
                a.line() != b.line() ? Integer.compare(a.line(), b.line()) : Integer.compare(a.column(), b.column()));
    }
}
