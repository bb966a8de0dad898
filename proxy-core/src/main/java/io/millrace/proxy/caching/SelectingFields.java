package io.millrace.proxy.caching;

import io.millrace.proxy.http.FieldName;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Formats the request fields that select a stored response (RFC 9111 s4.1). No state. */
final class SelectingFields {
    private SelectingFields() {}

    /**
     * Returns one line {@code Name: value} for each selecting field that the request had.
     *
     * @param values result of {@link Variance#valuesOf}; borrowed
     * @return null if cookies or credentials select the response, or if a selecting value cannot be written as a field
     *     line
     */
    static @Nullable List<String> of(Variance variance, byte[] values) {
        if (variance.isAny() || !variance.cookies().isEmpty()) {
            return null;
        }
        List<String> lines = new ArrayList<>();
        List<FieldName> names = variance.names();
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i).text();
            ByteBuffer value = Variance.valueAt(values, i);
            boolean isPrivate = name.equalsIgnoreCase("Cookie") || name.equalsIgnoreCase("Authorization");
            if (value == null) {
                continue;
            }
            String text = isPrivate ? null : visible(value);
            if (text == null) {
                return null;
            }
            lines.add(name + ": " + text);
        }
        return lines;
    }

    private static @Nullable String visible(ByteBuffer value) {
        StringBuilder text = new StringBuilder(value.remaining());
        while (value.hasRemaining()) {
            int octet = value.get();
            if (octet < ' ' || octet > '~') {
                return null;
            }
            text.append((char) octet);
        }
        return text.toString();
    }
}
