package io.millrace.proxy.exchange.authorize;

import io.millrace.proxy.config.guard.AuthorizeKeyPart;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.rules.CookieValues;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The key under which the decision of an authorisation server is remembered: the parts of the request that determine
 * the decision. Each value is preceded by its length, so that two different lists of values never have the same bytes.
 *
 * <p>Confined to one event loop. Reused for each request.
 */
final class AuthorizationKey {
    private static final int INITIAL_BYTES = 512;
    private static final int LENGTH_BYTES = 4;

    private byte[] bytes = new byte[INITIAL_BYTES];
    private int length;

    /** Replaces the bytes by the key of another request. */
    void set(List<AuthorizeKeyPart> parts, RequestHead request, String client) {
        length = 0;
        for (AuthorizeKeyPart part : parts) {
            add(part, request, client);
        }
    }

    /** The bytes up to {@link #length}. Borrowed until the next {@link #set}. */
    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    private void add(AuthorizeKeyPart part, RequestHead request, String client) {
        TargetUri target = request.target();
        switch (part.source()) {
            case METHOD -> add(request.methodName());
            case HOST -> add(target.authority());
            case PATH -> add(target.path());
            case URL -> add(target.asString());
            case CLIENT -> add(client);
            case REQUEST_HEADER -> addField(request.fields(), FieldName.of(part.name()));
            case COOKIE -> {
                List<String> values = CookieValues.of(request.fields(), part.name());
                addNumber(values.size());
                values.forEach(this::add);
            }
        }
    }

    private void addField(FieldSection fields, FieldName name) {
        int countAt = length;
        int lines = 0;
        addNumber(0);
        for (int line = fields.find(name); line >= 0; line = fields.next(name, line)) {
            add(fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
            lines++;
        }
        putNumber(countAt, lines);
    }

    private void add(String text) {
        byte[] value = text.getBytes(StandardCharsets.ISO_8859_1);
        add(value, 0, value.length);
    }

    private void add(byte[] from, int start, int end) {
        addNumber(end - start);
        ensure(end - start);
        System.arraycopy(from, start, bytes, length, end - start);
        length += end - start;
    }

    private void addNumber(int number) {
        ensure(LENGTH_BYTES);
        putNumber(length, number);
        length += LENGTH_BYTES;
    }

    private void putNumber(int at, int number) {
        for (int i = 0; i < LENGTH_BYTES; i++) {
            bytes[at + i] = (byte) (number >> (Byte.SIZE * i));
        }
    }

    private void ensure(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }
}
