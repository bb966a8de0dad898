package io.millrace.proxy.extension;

import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.spi.Answer;
import io.millrace.proxy.spi.MutableFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a message and their changes by one call of a hook.
 *
 * <p>Confined to one event loop. For a single use.
 */
class EditedFields extends FieldsView implements MutableFields {
    /** Maximum number of field lines that one call adds. */
    static final int LINES_MAX = 64;

    /** Limit of the bytes of the names and values that one call adds. */
    static final int BYTES_MAX = 16 * 1024;

    /** Response fields that this proxy writes itself. */
    static final Set<String> FIXED_IN_RESPONSES = Set.of(
            "age",
            "connection",
            "content-length",
            "content-range",
            "date",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade");

    /**
     * Fields of origin responses that extensions cannot change, including the fields that identify the representation.
     */
    static final Set<String> FIXED_IN_STORED = Set.of(
            "age",
            "connection",
            "content-length",
            "content-range",
            "date",
            "etag",
            "keep-alive",
            "last-modified",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade");

    /** Fields of requests to the origin that this proxy writes itself, or that a fetch for the cache sets. */
    static final Set<String> FIXED_IN_ORIGIN_REQUESTS = Set.of(
            "connection",
            "content-length",
            "expect",
            "host",
            "http2-settings",
            "if-match",
            "if-modified-since",
            "if-none-match",
            "if-range",
            "if-unmodified-since",
            "keep-alive",
            "max-forwards",
            "proxy-connection",
            "range",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "via");

    private final Set<String> fixed;
    private @Nullable FieldSection base;
    /** The fields after the changes; null if they were not computed yet. */
    private @Nullable FieldSection changed;

    private final List<FieldName> removed = new ArrayList<>();
    private final FieldSection.Builder added = FieldSection.builder();
    private int lines;
    private int bytes;

    /**
     * @param fields null if {@link #read} supplies them
     * @param fixed names in lower case that cannot be changed
     */
    EditedFields(@Nullable FieldSection fields, Set<String> fixed) {
        this.base = fields;
        this.fixed = fixed;
    }

    /** Returns the fields before the changes. Overridden if the constructor got no fields. */
    FieldSection read() {
        throw new IllegalStateException("the fields are valid only during the call of the hook");
    }

    @Override
    FieldSection section() {
        FieldSection now = changed;
        if (now == null) {
            FieldSection before = base;
            if (before == null) {
                before = read();
                base = before;
            }
            FieldEdits edits = edits();
            now = edits == null ? before : edits.applyTo(before);
            changed = now;
        }
        return now;
    }

    /** Returns the changes; null if there are none. */
    @Nullable
    FieldEdits edits() {
        return removed.isEmpty() && added.size() == 0 ? null : FieldEdits.of(removed, added.build());
    }

    /**
     * Returns the fields of an answer.
     *
     * @throws IllegalArgumentException if a name or value is not valid, or this proxy writes a field itself
     */
    static FieldSection fieldsOf(Answer answer) {
        EditedFields fields = new EditedFields(FieldSection.EMPTY, FIXED_IN_RESPONSES);
        List<String> namesAndValues = answer.fields();
        for (int i = 0; i < namesAndValues.size(); i += 2) {
            fields.add(namesAndValues.get(i), namesAndValues.get(i + 1));
        }
        return fields.section();
    }

    /**
     * Returns the changes that set fields in every response.
     *
     * @param valuesByName null for none
     * @throws IllegalArgumentException if a name or value is not valid, or this proxy writes a field itself
     * @throws HookLimitException if a limit of fields or bytes is exceeded
     */
    static @Nullable FieldEdits constants(@Nullable Map<String, String> valuesByName) {
        if (valuesByName == null) {
            return null;
        }
        EditedFields fields = new EditedFields(FieldSection.EMPTY, FIXED_IN_RESPONSES);
        valuesByName.forEach(fields::set);
        FieldEdits edits = fields.edits();
        return edits == null ? FieldEdits.of(List.of(), FieldSection.EMPTY) : edits.encoded();
    }

    private FieldName changeable(String name) {
        FieldName field = nameOf(name);
        if (fixed.contains(field.lower())) {
            throw new IllegalArgumentException("an extension cannot change the field " + field.text());
        }
        return field;
    }

    private void append(FieldName name, String value) {
        lines++;
        bytes += name.text().length() + value.length();
        if (lines > LINES_MAX) {
            throw new HookLimitException("lines that a hook adds: actual=" + lines + ", limit=" + LINES_MAX);
        }
        if (bytes > BYTES_MAX) {
            throw new HookLimitException("bytes that a hook adds: actual=" + bytes + ", limit=" + BYTES_MAX);
        }
        added.add(name, value);
        changed = null;
    }

    @Override
    public void set(String name, String value) {
        remove(name);
        append(changeable(name), value);
    }

    @Override
    public void add(String name, String value) {
        append(changeable(name), value);
    }

    @Override
    public void remove(String name) {
        FieldName field = changeable(name);
        added.remove(field);
        if (!removed.contains(field)) {
            removed.add(field);
        }
        changed = null;
    }
}
