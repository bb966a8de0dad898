package io.millrace.store.tool;

import org.jspecify.annotations.Nullable;

/** A builder of one JSON object on one line, member by member. Confined to one thread. */
final class JsonText {
    private final StringBuilder out = new StringBuilder("{");

    /** Adds a string member; JSON null for a null value. */
    JsonText member(String name, @Nullable String value) {
        name(name);
        if (value == null) {
            out.append("null");
        } else {
            string(value);
        }
        return this;
    }

    /** Adds a number member. */
    JsonText member(String name, long value) {
        name(name);
        out.append(value);
        return this;
    }

    /** Adds a boolean member. */
    JsonText member(String name, boolean value) {
        name(name);
        out.append(value);
        return this;
    }

    /** Adds a member that is an array of strings. */
    JsonText member(String name, Iterable<String> values) {
        name(name);
        char separator = '[';
        for (String value : values) {
            out.append(separator);
            string(value);
            separator = ',';
        }
        out.append(separator == '[' ? "[]" : "]");
        return this;
    }

    /** Adds a member that is an object. */
    JsonText member(String name, JsonText value) {
        name(name);
        out.append(value);
        return this;
    }

    private void name(String name) {
        if (out.length() > 1) {
            out.append(',');
        }
        string(name);
        out.append(':');
    }

    private void string(String value) {
        out.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append("\\u00").append(Character.forDigit(c >> 4, 16)).append(Character.forDigit(c & 15, 16));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    @Override
    public String toString() {
        return out + "}";
    }
}
