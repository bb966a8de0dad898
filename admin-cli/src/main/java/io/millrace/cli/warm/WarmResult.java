package io.millrace.cli.warm;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The effect of one request on the cache, from the response of the proxy. Immutable.
 *
 * @param reason distinguishes results with the same effect; empty for none
 */
record WarmResult(Effect effect, String reason) {
    /** The effect of a request on the cache. */
    enum Effect {
        /** The proxy answered with a fresh stored response. */
        FRESH("already fresh"),
        /** The response was fetched and stored. */
        STORED("stored now"),
        /** The origin confirmed the stored response. */
        REVALIDATED("revalidated"),
        /** The proxy answered with a stale stored response. */
        STALE("served stale"),
        /** The response is not stored. */
        NOT_STORED("not stored"),
        /** No rule of the configuration maps the URL, or there is no listener for its scheme. */
        NOT_SERVED("site not served"),
        /** The response has a status of 400 or above, or did not arrive. */
        ERROR("errors");

        private final String text;

        Effect(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }

        /** The name in JSON. */
        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final int REASON_LENGTH_MAX = 60;

    /** Evaluates a response by Cache-Status (RFC 9211); the last member is from the proxy. */
    static WarmResult of(WarmUrl url, ProxyReply reply) {
        String field = reply.cacheStatus();
        if (reply.status() == 404 && field == null) {
            return new WarmResult(Effect.NOT_SERVED, url.authority());
        }
        List<String> member = field == null ? List.of() : lastMember(field);
        String detail = parameter(member, "detail");
        if (reply.status() >= 400) {
            return new WarmResult(Effect.ERROR, reply.status() + (detail == null ? "" : " " + shortened(detail)));
        }
        if (field == null) {
            return new WarmResult(Effect.NOT_STORED, "the proxy itself answered " + reply.status());
        }
        String forwarded = parameter(member, "fwd");
        if (forwarded == null && member.contains("hit")) {
            String ttl = parameter(member, "ttl");
            boolean isStale = ttl != null && ttl.startsWith("-");
            return new WarmResult(isStale ? Effect.STALE : Effect.FRESH, "");
        }
        if ("304".equals(parameter(member, "fwd-status"))) {
            return new WarmResult(Effect.REVALIDATED, "");
        }
        if (member.contains("stored") || member.contains("collapsed")) {
            return new WarmResult(Effect.STORED, "");
        }
        return new WarmResult(Effect.NOT_STORED, shortened("fwd=" + forwarded + why(reply, detail)));
    }

    private static String why(ProxyReply reply, @Nullable String detail) {
        if (detail != null) {
            return ", " + detail;
        }
        String control = reply.cacheControl();
        String cookie = reply.setsCookie() ? ", Set-Cookie" : "";
        return (control == null ? ", no Cache-Control" : ", Cache-Control: " + control) + cookie;
    }

    private static String shortened(String text) {
        return text.length() <= REASON_LENGTH_MAX ? text : text.substring(0, REASON_LENGTH_MAX - 3) + "...";
    }

    private static @Nullable String parameter(List<String> member, String name) {
        for (String each : member) {
            if (each.startsWith(name + "=")) {
                String value = each.substring(name.length() + 1);
                boolean isQuoted = value.length() > 1 && value.startsWith("\"") && value.endsWith("\"");
                return isQuoted ? value.substring(1, value.length() - 1) : value;
            }
        }
        return null;
    }

    /** Returns the name and the parameters of the last member of a list. */
    private static List<String> lastMember(String field) {
        List<String> parts = new ArrayList<>();
        StringBuilder part = new StringBuilder();
        boolean isQuoted = false;
        for (int i = 0; i < field.length(); i++) {
            char c = field.charAt(i);
            if (isQuoted && c == '\\' && i + 1 < field.length()) {
                part.append(field.charAt(++i));
                continue;
            }
            isQuoted ^= c == '"';
            if (isQuoted || (c != ',' && c != ';')) {
                part.append(c);
                continue;
            }
            parts.add(part.toString().strip());
            part.setLength(0);
            if (c == ',') {
                parts.clear();
            }
        }
        parts.add(part.toString().strip());
        return parts;
    }
}
