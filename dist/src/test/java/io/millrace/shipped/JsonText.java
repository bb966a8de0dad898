package io.millrace.shipped;

import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** Writes maps and lists as JSON. */
final class JsonText {
    private JsonText() {}

    static String of(Object value) {
        if (value instanceof Map<?, ?> map) {
            StringJoiner joiner = new StringJoiner(",", "{", "}");
            map.forEach((key, each) -> joiner.add(quoted(key.toString()) + ":" + of(each)));
            return joiner.toString();
        }
        if (value instanceof List<?> list) {
            StringJoiner joiner = new StringJoiner(",", "[", "]");
            list.forEach(each -> joiner.add(of(each)));
            return joiner.toString();
        }
        return value instanceof String text ? quoted(text) : String.valueOf(value);
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }
}
