package io.millrace.proxy.access;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.net.ClientConnection;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The request field with the subject of the client's certificate, for origins. Immutable.
 *
 * <p>Names are compared without regard to case. An underscore equals a hyphen, because servers that pass fields as
 * variables (RFC 3875 s4.1.18) do not distinguish them.
 */
final class SubjectField {
    /**
     * Limit of the subject. A longer subject is omitted, because a part of it could be the subject of another client.
     */
    private static final int SUBJECT_MAX = 4096;

    private final FieldName name;
    private final byte[] normalized;

    private SubjectField(FieldName name, byte[] normalized) {
        this.name = name;
        this.normalized = normalized;
    }

    static @Nullable SubjectField of(@Nullable String name) {
        return name == null ? null : new SubjectField(FieldName.of(name), normalized(name));
    }

    private static byte[] normalized(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.ISO_8859_1);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) normalized(bytes[i]);
        }
        return bytes;
    }

    /** Returns a byte of a name in lower case, with a hyphen for an underscore. */
    private static int normalized(byte c) {
        return c == '_' ? '-' : FieldLexer.lower(c);
    }

    /** Returns true if a line has this name. */
    boolean isNameOf(FieldSection fields, int line) {
        return hasName(fields.bytes(), fields.nameStart(line), fields.nameEnd(line));
    }

    boolean hasName(FieldName other) {
        byte[] bytes = other.toString().getBytes(StandardCharsets.ISO_8859_1);
        return hasName(bytes, 0, bytes.length);
    }

    private boolean hasName(byte[] bytes, int from, int to) {
        if (to - from != normalized.length) {
            return false;
        }
        for (int i = 0; i < normalized.length; i++) {
            if (normalized(bytes[from + i]) != normalized[i]) {
                return false;
            }
        }
        return true;
    }

    /** Adds the field for a client with a verified certificate. */
    void addTo(ClientConnection client, FieldSection.Builder to) {
        ClientConnection.Tls tls = client.tls();
        String subject = tls == null ? null : tls.clientSubject();
        if (subject != null && !subject.isEmpty() && subject.length() <= SUBJECT_MAX) {
            to.add(name, subject);
        }
    }
}
