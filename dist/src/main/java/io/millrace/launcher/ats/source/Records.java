package io.millrace.launcher.ats.source;

import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The records (settings) that Traffic Server's records.yaml or records.config contains. The last record with a name
 * applies. Keeps track of the records that imports have processed. Confined to one thread.
 */
public final class Records {
    /**
     * A record.
     *
     * @param name name without {@code proxy.config.}, or a complete name that begins with {@code proxy.local.}
     * @param value as written; null for none
     */
    public record Rec(String name, @Nullable String value, SourceFile file, Entry entry) {
        /** The value as written; empty for none. */
        public String text() {
            return value == null ? "" : value;
        }
    }

    private final Map<String, Rec> byName = new LinkedHashMap<>();
    private final Map<String, Rec> unprocessed = new LinkedHashMap<>();

    /** Sets a record, replacing an earlier one with the same name. */
    public void put(Rec rec) {
        Rec before = byName.put(rec.name, rec);
        if (before != null) {
            before.entry.note(rec.entry.place() + " sets the record again; the last value applies");
        }
        unprocessed.remove(rec.name);
        unprocessed.put(rec.name, rec);
    }

    /** Returns the record and marks it as processed; null if it was not set. */
    @Nullable
    public Rec getAndMarkProcessed(String name) {
        unprocessed.remove(name);
        return byName.get(name);
    }

    /**
     * Returns the value of a record. Does not mark the record as processed.
     *
     * @param otherwise result for a record without a value: the default of Traffic Server
     */
    public String value(String name, String otherwise) {
        Rec rec = byName.get(name);
        return rec == null || rec.value == null ? otherwise : rec.value;
    }

    /** Returns true if the record was set to a value. */
    public boolean isSet(String name) {
        Rec rec = byName.get(name);
        return rec != null && rec.value != null;
    }

    /** Returns true if the value of the record is not 0. Returns {@code otherwise} if the record is not set. */
    public boolean isOn(String name, boolean otherwise) {
        return !value(name, otherwise ? "1" : "0").equals("0");
    }

    /** Returns the records that no import has processed. */
    public List<Rec> unprocessed() {
        return new ArrayList<>(unprocessed.values());
    }
}
