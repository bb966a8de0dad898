package io.millrace.launcher.ats.source;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A line while it is being imported. Its outcome follows from what was said of it. Confined to one thread. */
public final class Entry {
    private final String file;
    private final int line;
    private final int column;
    private final String text;
    private final Set<String> missing = new LinkedHashSet<>();
    private final Set<String> notes = new LinkedHashSet<>();
    private final Set<String> keys = new LinkedHashSet<>();
    private final Set<String> same = new LinkedHashSet<>();

    /** A line without an outcome. */
    public Entry(String file, int line, int column, String text) {
        this.file = file;
        this.line = line;
        this.column = column;
        this.text = text;
    }

    /** File and line, as reports name them. */
    public String place() {
        return file + ":" + line;
    }

    String text() {
        return text;
    }

    /** Line number from 1. */
    public int line() {
        return line;
    }

    /** Column from 1. */
    public int column() {
        return column;
    }

    /** Name of the file. */
    public String file() {
        return file;
    }

    /** All of it or a part has no equal. */
    public void notMapped(String why) {
        missing.add(why);
    }

    /** What the operator should know of it; alone it says why it has no effect. */
    public void note(String text) {
        notes.add(text);
    }

    /** A key that has this value without any setting. */
    public void same(String key) {
        same.add(key);
    }

    /** A key that came of it. */
    public void became(String key) {
        keys.add(key);
    }

    /** Whether anything was said of it. */
    boolean isDecided() {
        return !missing.isEmpty() || !notes.isEmpty() || !same.isEmpty();
    }

    /** Notes that belong beside the key. */
    @Nullable
    public String remark() {
        Set<String> all = new LinkedHashSet<>(missing);
        all.addAll(notes);
        return all.isEmpty() ? null : String.join("; ", all);
    }

    /** The line with its outcome. */
    public ImportedLine finish() {
        Outcome outcome = !missing.isEmpty()
                ? Outcome.NOT_MAPPED
                : !keys.isEmpty()
                        ? Outcome.MAPPED
                        : !same.isEmpty()
                                ? Outcome.SAME_AS_DEFAULT
                                : notes.isEmpty() ? Outcome.NOT_MAPPED : Outcome.NO_EFFECT;
        List<String> named = new ArrayList<>(keys);
        if (outcome == Outcome.SAME_AS_DEFAULT) {
            named.addAll(same);
        }
        String said = remark();
        return new ImportedLine(
                file,
                line,
                column,
                text,
                outcome,
                List.copyOf(named),
                said == null && named.isEmpty() ? "is not understood" : said == null ? "" : said);
    }
}
