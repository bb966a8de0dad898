package io.millrace.proxy.rules;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.util.ArrayList;
import java.util.List;

/** Reads cookies of requests (RFC 6265 section 5.4). */
public final class CookieValues {
    private CookieValues() {}

    /** Returns the values of all cookies with a name, in their order; empty if there is none. */
    public static List<String> of(FieldSection fields, String name) {
        List<String> values = List.of();
        for (int line = fields.find(FieldName.COOKIE); line >= 0; line = fields.next(FieldName.COOKIE, line)) {
            String pairs = fields.value(line);
            for (int start = 0; start < pairs.length(); ) {
                int end = end(pairs, ';', start, pairs.length());
                int equals = end(pairs, '=', start, end);
                if (pairs.substring(start, equals).strip().equals(name)) {
                    values = with(
                            values,
                            pairs.substring(Math.min(end, equals + 1), end).strip());
                }
                start = end + 1;
            }
        }
        return values;
    }

    private static int end(String text, char separator, int from, int limit) {
        int at = text.indexOf(separator, from);
        return at < 0 || at > limit ? limit : at;
    }

    private static List<String> with(List<String> values, String value) {
        List<String> more = values.isEmpty() ? new ArrayList<>() : values;
        more.add(value);
        return more;
    }
}
