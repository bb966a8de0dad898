package io.millrace.proxy.extension;

import io.millrace.proxy.http.FieldName;
import java.util.concurrent.ConcurrentHashMap;

/** The field names that extensions use, by their texts; at most {@value #NAMES_MAX}. Thread-safe. */
final class FieldNameCache {
    private static final int NAMES_MAX = 1000;

    private static final ConcurrentHashMap<String, FieldName> NAMES = new ConcurrentHashMap<>();

    private FieldNameCache() {}

    /** @throws IllegalArgumentException if the text is not a field name */
    static FieldName of(String text) {
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
}
