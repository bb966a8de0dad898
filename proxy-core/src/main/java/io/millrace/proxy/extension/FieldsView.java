package io.millrace.proxy.extension;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.spi.Fields;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A view of the fields of a message for extensions.
 *
 * <p>Confined to one event loop.
 */
abstract class FieldsView implements Fields {
    /** Maximum number of field names in {@link #NAMES}. */
    private static final int NAMES_MAX = 1000;

    /** The field names that extensions use, by their texts. */
    private static final ConcurrentHashMap<String, FieldName> NAMES = new ConcurrentHashMap<>();

    /** @throws IllegalArgumentException if the text is not a field name */
    static FieldName nameOf(String text) {
        FieldName known = NAMES.get(text);
        if (known == null) {
            known = FieldName.of(text);
            if (NAMES.size() >= NAMES_MAX) {
                NAMES.clear();
            }
            NAMES.put(text, known);
        }
        return known;
    }

    /**
     * The fields.
     *
     * @throws IllegalStateException after the call of the hook
     */
    abstract FieldSection section();

    @Override
    public int size() {
        return section().size();
    }

    @Override
    public String name(int line) {
        return section().name(line);
    }

    @Override
    public String value(int line) {
        return section().value(line);
    }

    @Override
    public boolean isNamed(int line, String name) {
        return section().isNamed(line, nameOf(name));
    }

    @Override
    public boolean hasValue(int line, String value) {
        FieldSection fields = section();
        byte[] bytes = fields.bytes();
        int start = fields.valueStart(line);
        int length = fields.valueEnd(line) - start;
        if (length != value.length()) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if ((bytes[start + i] & 0xff) != value.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int find(String name) {
        return section().find(nameOf(name));
    }

    @Override
    public int next(String name, int after) {
        return section().next(nameOf(name), after);
    }
}
