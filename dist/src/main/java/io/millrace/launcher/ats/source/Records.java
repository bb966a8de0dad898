package io.millrace.launcher.ats.source;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The records that were set, by their names without {@code proxy.config.}; the last one of a name counts. Confined to one thread. */
public final class Records {
    /**
     * A record.
     *
     * @param name without {@code proxy.config.}, or whole where it begins with {@code proxy.local.}
     * @param value as written; null for none
     */
    public record Rec(String name, @Nullable String value, SourceFile file, Entry entry) {
        /** The value as it was written. */
        public String text() {
            return value == null ? "" : value;
        }
    }

    private final Map<String, Rec> set = new LinkedHashMap<>();
    private final Map<String, Rec> left = new LinkedHashMap<>();

    /** Sets a record; the last one of a name counts. */
    public void put(Rec rec) {
        Rec before = set.put(rec.name, rec);
        if (before != null) {
            before.entry.note(rec.entry.place() + " sets the record again; the last value applies");
        }
        left.remove(rec.name);
        left.put(rec.name, rec);
    }

    /** The record, which is then no longer left; null when it was not set. */
    @Nullable
    public Rec take(String name) {
        left.remove(name);
        return set.get(name);
    }

    /** Its value, or what Traffic Server takes without it. */
    public String value(String name, String otherwise) {
        Rec rec = set.get(name);
        return rec == null || rec.value == null ? otherwise : rec.value;
    }

    /** Whether the record was set. */
    public boolean isSet(String name) {
        Rec rec = set.get(name);
        return rec != null && rec.value != null;
    }

    /** Whether the record is not 0; {@code otherwise} when it was not set. */
    public boolean isOn(String name, boolean otherwise) {
        return !value(name, otherwise ? "1" : "0").equals("0");
    }

    /** Those that nobody has taken. */
    public List<Rec> left() {
        return new ArrayList<>(left.values());
    }
}
