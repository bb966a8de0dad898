package io.millrace.proxy.access;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The request fields that only this proxy or an authorisation server may set. Immutable.
 *
 * <p>Names are compared without regard to case. An underscore equals a hyphen, because servers that pass fields as
 * variables (RFC 3875 s4.1.18) do not distinguish them.
 */
public final class ReceivedFields {
    private final byte[][] names;

    private ReceivedFields(byte[][] names) {
        this.names = names;
    }

    /** Returns the fields with these names. */
    public static ReceivedFields of(List<FieldName> names) {
        byte[][] normalized = new byte[names.size()][];
        for (int i = 0; i < normalized.length; i++) {
            normalized[i] = names.get(i).text().getBytes(StandardCharsets.ISO_8859_1);
            for (int j = 0; j < normalized[i].length; j++) {
                normalized[i][j] = (byte) normalized(normalized[i][j]);
            }
        }
        return new ReceivedFields(normalized);
    }

    private static int normalized(byte c) {
        return c == '_' ? '-' : FieldLexer.lower(c);
    }

    /** Returns true if there are no such fields. */
    public boolean isEmpty() {
        return names.length == 0;
    }

    /** Returns true if a line has one of the names. */
    public boolean contains(FieldSection fields, int line) {
        byte[] bytes = fields.bytes();
        int from = fields.nameStart(line);
        int length = fields.nameEnd(line) - from;
        for (byte[] name : names) {
            int i = name.length == length ? 0 : -1;
            while (i >= 0 && i < length && normalized(bytes[from + i]) == name[i]) {
                i++;
            }
            if (i == length) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the fields of a request in which the received fields replace the client's fields of these names.
     *
     * @param received fields of this proxy or of the server
     * @param withoutAuthorization whether Authorization of the client is removed
     */
    public FieldSection replace(FieldSection request, FieldSection received, boolean withoutAuthorization) {
        FieldSection.Builder fields = FieldSection.builderLike(request);
        for (int line = 0; line < request.size(); line++) {
            if (!contains(request, line) && !(withoutAuthorization && request.isNamed(line, FieldName.AUTHORIZATION))) {
                fields.addLine(request, line);
            }
        }
        return fields.addAll(received).build();
    }

    /** Returns true if {@link #replace} would change the fields of a request. */
    public boolean changes(FieldSection request, FieldSection received, boolean withoutAuthorization) {
        if (received.size() > 0 || (withoutAuthorization && request.contains(FieldName.AUTHORIZATION))) {
            return true;
        }
        for (int line = 0; names.length > 0 && line < request.size(); line++) {
            if (contains(request, line)) {
                return true;
            }
        }
        return false;
    }
}
