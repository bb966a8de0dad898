package io.millrace.wasm.abi;

import io.millrace.proxy.spi.Fields;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a message as a module sees them: names in lower case, pseudo fields such as {@code :path} first. Texts
 * have one character for each byte. Confined to one thread at a time.
 */
public final class HeaderMap {
    /** Limit of the changes of one message. */
    private static final int EDITS_MAX = 1000;

    /** Limit of the bytes of the changes of one message. */
    private static final int EDIT_BYTES_MAX = 64 * 1024;

    /** Names and values in turn. */
    private final List<String> lines = new ArrayList<>();

    private final List<FieldEdit> edits = new ArrayList<>();
    private int editBytes;

    /** Appends a line that does not count as a change by the module. */
    public HeaderMap with(String name, String value) {
        lines.add(name);
        lines.add(value);
        return this;
    }

    /** Appends all fields of a message. */
    public HeaderMap with(Fields fields) {
        for (int i = 0; i < fields.size(); i++) {
            with(fields.name(i).toLowerCase(Locale.ROOT), fields.value(i));
        }
        return this;
    }

    /** The bytes of all names and values. */
    public long bytes() {
        long bytes = 0;
        for (String text : lines) {
            bytes += text.length();
        }
        return bytes;
    }

    /** The number of lines. */
    public int size() {
        return lines.size() / 2;
    }

    /** The changes in their order. */
    public List<FieldEdit> edits() {
        return edits;
    }

    /** Returns the values of a name, joined by commas; null if there is none. */
    @Nullable
    public String get(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        String first = null;
        StringBuilder joined = null;
        for (int i = 0; i < lines.size(); i += 2) {
            if (!lines.get(i).equals(lower)) {
                continue;
            }
            if (first == null) {
                first = lines.get(i + 1);
            } else {
                joined = joined == null ? new StringBuilder(first) : joined;
                joined.append(',').append(lines.get(i + 1));
            }
        }
        return joined == null ? first : joined.toString();
    }

    /** Changes the lines and records the change. Returns the status for the module. */
    public int edit(FieldEdit.Kind kind, String anyCase, String value) {
        String name = anyCase.toLowerCase(Locale.ROOT);
        if (name.isEmpty()) {
            return Status.BAD_ARGUMENT;
        }
        if (name.charAt(0) == ':') {
            return Status.UNIMPLEMENTED;
        }
        editBytes += name.length() + value.length();
        if (edits.size() >= EDITS_MAX || editBytes > EDIT_BYTES_MAX) {
            return Status.INTERNAL_FAILURE;
        }
        edits.add(new FieldEdit(kind, name, value));
        if (kind != FieldEdit.Kind.ADD) {
            for (int i = lines.size() - 2; i >= 0; i -= 2) {
                if (lines.get(i).equals(name)) {
                    lines.remove(i + 1);
                    lines.remove(i);
                }
            }
        }
        if (kind != FieldEdit.Kind.REMOVE) {
            with(name, value);
        }
        return Status.OK;
    }

    /**
     * Replaces all fields except pseudo fields. Names whose values stay the same are not changed.
     *
     * @param namesAndValues names and values in turn
     */
    public int replaceAll(List<String> namesAndValues) {
        Map<String, List<String>> before = byName(lines);
        Map<String, List<String>> after = byName(namesAndValues);
        for (String name : before.keySet()) {
            if (!after.containsKey(name)) {
                int status = edit(FieldEdit.Kind.REMOVE, name, "");
                if (status != Status.OK) {
                    return status;
                }
            }
        }
        for (Map.Entry<String, List<String>> field : after.entrySet()) {
            if (field.getValue().equals(before.get(field.getKey()))) {
                continue;
            }
            FieldEdit.Kind kind = FieldEdit.Kind.REPLACE;
            for (String value : field.getValue()) {
                int status = edit(kind, field.getKey(), value);
                if (status != Status.OK) {
                    return status;
                }
                kind = FieldEdit.Kind.ADD;
            }
        }
        return Status.OK;
    }

    /** Returns the values of each name that is not a pseudo field. */
    private static Map<String, List<String>> byName(List<String> namesAndValues) {
        Map<String, List<String>> values = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.size(); i += 2) {
            String name = namesAndValues.get(i).toLowerCase(Locale.ROOT);
            if (!name.startsWith(":")) {
                values.computeIfAbsent(name, key -> new ArrayList<>()).add(namesAndValues.get(i + 1));
            }
        }
        return values;
    }

    /** Returns all lines in the encoding of {@link Pairs}. */
    public byte[] pairs() {
        return Pairs.encode(lines);
    }
}
