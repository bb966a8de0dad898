package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A part of requests that determines the decision of an authorisation server. Immutable.
 *
 * @param source kind of the value
 * @param name name of the field or cookie; empty for the other kinds
 */
public record AuthorizeKeyPart(Source source, String name) {
    /** The kinds of values. */
    public enum Source {
        /** The method. */
        METHOD,
        /** Host and port of the URL. */
        HOST,
        /** The path of the URL. */
        PATH,
        /** The whole URL. */
        URL,
        /** The address of the client. */
        CLIENT,
        /** All lines of a request field. */
        REQUEST_HEADER,
        /** All cookies with a name. */
        COOKIE;

        private String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Returns the parts for everything that the server gets. */
    static List<AuthorizeKeyPart> all(List<FieldName> sendFields) {
        List<AuthorizeKeyPart> parts = new ArrayList<>();
        for (Source source : List.of(Source.METHOD, Source.URL, Source.CLIENT)) {
            parts.add(new AuthorizeKeyPart(source, ""));
        }
        for (FieldName field : sendFields) {
            parts.add(new AuthorizeKeyPart(Source.REQUEST_HEADER, field.text()));
        }
        return List.copyOf(parts);
    }

    /**
     * Adds a part for each field that the server gets and that no part names, because the decision may depend on the
     * field. A part for one cookie counts as naming the field Cookie.
     */
    static List<AuthorizeKeyPart> withSent(List<AuthorizeKeyPart> named, List<FieldName> sendFields) {
        List<AuthorizeKeyPart> parts = new ArrayList<>(named);
        for (FieldName field : sendFields) {
            if (named.stream().noneMatch(part -> part.names(field))) {
                parts.add(new AuthorizeKeyPart(Source.REQUEST_HEADER, field.text()));
            }
        }
        return List.copyOf(parts);
    }

    private boolean names(FieldName field) {
        return switch (source) {
            case REQUEST_HEADER -> FieldName.of(name).equals(field);
            case COOKIE -> field.equals(FieldName.COOKIE);
            case METHOD, HOST, PATH, URL, CLIENT -> false;
        };
    }

    /**
     * Parses the parts of a key.
     *
     * @throws InvalidValueException if one is unknown or is given twice
     */
    static List<AuthorizeKeyPart> parse(List<String> texts) throws InvalidValueException {
        List<AuthorizeKeyPart> parts = new ArrayList<>();
        for (String text : texts) {
            AuthorizeKeyPart part = part(text.strip());
            if (part == null) {
                throw new InvalidValueException("'" + text + "' is none of method, host, path, url, client,"
                        + " request_header[\"NAME\"] and cookie[\"NAME\"]");
            }
            if (parts.contains(part)) {
                throw new InvalidValueException("has " + text + " twice");
            }
            parts.add(part);
        }
        return List.copyOf(parts);
    }

    private static @Nullable AuthorizeKeyPart part(String text) {
        for (Source source : Source.values()) {
            if (source != Source.REQUEST_HEADER && source != Source.COOKIE) {
                if (text.equals(source.word())) {
                    return new AuthorizeKeyPart(source, "");
                }
            } else if (text.startsWith(source.word() + '[') && text.endsWith("]")) {
                String name = unquoted(text.substring(source.word().length() + 1, text.length() - 1));
                byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
                return FieldLexer.isToken(bytes, 0, bytes.length) ? new AuthorizeKeyPart(source, name) : null;
            }
        }
        return null;
    }

    private static String unquoted(String text) {
        boolean quoted = text.length() >= 2
                && (text.charAt(0) == '"' || text.charAt(0) == '\'')
                && text.charAt(text.length() - 1) == text.charAt(0);
        return quoted ? text.substring(1, text.length() - 1) : "";
    }
}
