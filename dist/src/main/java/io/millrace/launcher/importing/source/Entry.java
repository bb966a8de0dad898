package io.millrace.launcher.importing.source;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A source line during an import, with notes and keys. Its outcome is derived from these. Confined to one thread. */
public final class Entry {
    private final String file;
    private final int line;
    private final int column;
    private final String text;
    private final Set<String> notMappedReasons = new LinkedHashSet<>();
    private final Set<String> notes = new LinkedHashSet<>();
    private final Set<String> keys = new LinkedHashSet<>();
    private final Set<String> defaults = new LinkedHashSet<>();

    /** Creates a line without an outcome. */
    public Entry(String file, int line, int column, String text) {
        this.file = file;
        this.line = line;
        this.column = column;
        this.text = text;
    }

    /** File and line, as shown in reports. */
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

    /** Marks the line, or a part of it, as having no equivalent. */
    public void notMapped(String why) {
        notMappedReasons.add(why);
    }

    /**
     * Adds a note for the operator. A line that has notes, but no keys, no defaults and no part without an equivalent,
     * gets the outcome {@link Outcome#NO_EFFECT}.
     */
    public void note(String text) {
        notes.add(text);
    }

    /** Records a key that is not written, because the line sets it to the default. */
    public void matchesDefaultOf(String key) {
        defaults.add(key);
    }

    /** Records a key that was written for the line. */
    public void recordKey(String key) {
        keys.add(key);
    }

    /** Returns true if a key was recorded for the line. */
    public boolean hasKeys() {
        return !keys.isEmpty();
    }

    /** Returns all notes as one text, for a comment in the configuration. Returns null if there are none. */
    @Nullable
    public String remark() {
        Set<String> all = new LinkedHashSet<>(notMappedReasons);
        all.addAll(notes);
        return all.isEmpty() ? null : String.join("; ", all);
    }

    /** Returns the line with its outcome. */
    public ImportedLine finish() {
        Outcome outcome = !notMappedReasons.isEmpty()
                ? Outcome.NOT_MAPPED
                : !keys.isEmpty()
                        ? Outcome.MAPPED
                        : !defaults.isEmpty()
                                ? Outcome.SAME_AS_DEFAULT
                                : notes.isEmpty() ? Outcome.NOT_MAPPED : Outcome.NO_EFFECT;
        List<String> named = new ArrayList<>(keys);
        if (outcome == Outcome.SAME_AS_DEFAULT) {
            named.addAll(defaults);
        }
        String remark = remark();
        return new ImportedLine(
                file,
                line,
                column,
                text,
                outcome,
                List.copyOf(named),
                remark != null ? remark : named.isEmpty() ? "the importer does not understand the line" : "");
    }
}
