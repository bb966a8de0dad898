package io.millrace.launcher.importing.source;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Media types for {@code compression.types}, which other proxies choose by patterns. Source of the names: the registry
 * of IANA, and unregistered names that origins use. Thread-safe: stateless.
 */
public final class MediaTypes {
    /** All types: every top-level type with all its subtypes. */
    public static final List<String> ANY = List.of(
            "text/*",
            "application/*",
            "image/*",
            "font/*",
            "audio/*",
            "video/*",
            "model/*",
            "multipart/*",
            "message/*");

    /** Types that compress well. */
    private static final List<String> KNOWN = List.of(
            "text/html",
            "text/css",
            "text/plain",
            "text/xml",
            "text/javascript",
            "text/x-javascript",
            "text/ecmascript",
            "text/markdown",
            "text/csv",
            "text/calendar",
            "text/cache-manifest",
            "text/vcard",
            "text/vtt",
            "text/x-component",
            "text/x-json",
            "application/javascript",
            "application/x-javascript",
            "application/ecmascript",
            "application/json",
            "application/ld+json",
            "application/geo+json",
            "application/manifest+json",
            "application/vnd.api+json",
            "application/problem+json",
            "application/graphql+json",
            "application/xml",
            "application/xhtml+xml",
            "application/rss+xml",
            "application/atom+xml",
            "application/rdf+xml",
            "application/soap+xml",
            "application/dash+xml",
            "application/wasm",
            "application/vnd.apple.mpegurl",
            "application/x-mpegurl",
            "audio/mpegurl",
            "audio/x-mpegurl",
            "application/vnd.ms-fontobject",
            "application/x-font",
            "application/x-font-opentype",
            "application/x-font-otf",
            "application/x-font-truetype",
            "application/x-font-ttf",
            "font/eot",
            "font/opentype",
            "font/otf",
            "font/ttf",
            "image/svg+xml",
            "image/bmp",
            "image/x-icon",
            "image/vnd.microsoft.icon");

    private MediaTypes() {}

    /** Returns true if the text is a media type in lower case, such as {@code text/html} or {@code text/*}. */
    public static boolean isType(String text) {
        return text.matches("[a-z0-9.+-]+/([a-z0-9.+_-]+|\\*)");
    }

    /**
     * Returns the known types that {@code accepts} matches. Each type is tested alone and with a charset parameter.
     *
     * @param accepts tests a value of Content-Type
     */
    public static List<String> known(Predicate<String> accepts) {
        return KNOWN.stream()
                .filter(type -> accepts.test(type)
                        || accepts.test(type + ";charset=utf-8")
                        || accepts.test(type + "; charset=utf-8"))
                .toList();
    }

    /** Returns the known types that match a pattern with {@code *} and {@code ?}. */
    public static List<String> matching(String pattern) {
        StringBuilder expression = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            expression.append(c == '*' ? ".*" : c == '?' ? "." : Pattern.quote(String.valueOf(c)));
        }
        Pattern whole = Pattern.compile(expression.toString(), Pattern.CASE_INSENSITIVE);
        return known(value -> whole.matcher(value).matches());
    }
}
