package io.millrace.proxy.extension;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.spi.Fields;

/**
 * The view of an extension on the fields of a message.
 *
 * <p>Confined to one event loop.
 */
abstract class FieldsView implements Fields {
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
        return section().isNamed(line, FieldNameCache.of(name));
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
        return section().find(FieldNameCache.of(name));
    }

    @Override
    public int next(String name, int after) {
        return section().next(FieldNameCache.of(name), after);
    }
}
