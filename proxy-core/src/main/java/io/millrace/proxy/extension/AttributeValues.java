package io.millrace.proxy.extension;

import io.millrace.proxy.spi.Attribute;
import org.jspecify.annotations.Nullable;

/** The attributes of one request, or of one response of an origin. Confined to one event loop. */
final class AttributeValues {
    /** Limit of the attributes of a message. */
    static final int COUNT_MAX = 64;

    private @Nullable Object[] keysAndValues = {};

    @SuppressWarnings("unchecked") // set() takes a value of the key's type
    <T> @Nullable T get(Attribute<T> key) {
        for (int i = 0; i < keysAndValues.length; i += 2) {
            if (keysAndValues[i] == key) {
                return (T) keysAndValues[i + 1];
            }
        }
        return null;
    }

    <T> void set(Attribute<T> key, @Nullable T value) {
        int free = -1;
        for (int i = 0; i < keysAndValues.length; i += 2) {
            if (keysAndValues[i] == key) {
                keysAndValues[i] = value == null ? null : key;
                keysAndValues[i + 1] = value;
                return;
            }
            if (keysAndValues[i] == null) {
                free = i;
            }
        }
        if (value == null) {
            return;
        }
        if (free < 0) {
            free = keysAndValues.length;
            if (free == 2 * COUNT_MAX) {
                throw new HookLimitException("attributes of a message: limit=" + COUNT_MAX);
            }
            @Nullable Object[] more = new Object[Math.max(8, 2 * free)];
            System.arraycopy(keysAndValues, 0, more, 0, free);
            keysAndValues = more;
        }
        keysAndValues[free] = key;
        keysAndValues[free + 1] = value;
    }
}
