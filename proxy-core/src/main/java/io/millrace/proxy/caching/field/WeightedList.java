package io.millrace.proxy.caching.field;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Normalizes values of Accept-Encoding, Accept-Language and Accept-Charset, so that equivalent values become equal (RFC
 * 9111 s4.1). The result is in lower case, without white space and without weights of 1. Members are sorted by falling
 * weight, then by name, since only the weight expresses preference (RFC 9110 s12.4.2, s12.5.4). Members with an invalid
 * weight come last and keep that weight. Thread-safe: no state.
 */
public final class WeightedList {

    private static final int WEIGHT_MAX = 1000;
    private static final Comparator<Entry> ORDER =
            Comparator.comparingInt(Entry::weight).reversed().thenComparing(Entry::text);

    private record Entry(int weight, String text) {}

    private WeightedList() {}

    /** Writes the normalized members of all lines of a field. */
    public static void normalize(FieldSection fields, FieldName name, ByteArrayOutputStream to) {
        List<Entry> entries = new ArrayList<>(4);
        ListCursor members = ListCursor.over(fields, name);
        while (members.next()) {
            entries.add(entry(members.bytes(), members.start(), members.end()));
        }
        if (entries.size() > 1) {
            entries.sort(ORDER);
        }
        for (int i = 0; i < entries.size(); i++) {
            if (i > 0) {
                to.write(',');
            }
            String text = entries.get(i).text();
            for (int c = 0; c < text.length(); c++) {
                to.write(text.charAt(c));
            }
        }
    }

    private static Entry entry(byte[] b, int start, int end) {
        StringBuilder text = new StringBuilder(end - start);
        for (int i = start; i < end; i++) {
            if (!FieldLexer.isSpace(b[i])) {
                text.append((char) FieldLexer.lower(b[i] & 0xff));
            }
        }
        int semicolon = text.indexOf(";");
        if (semicolon < 0) {
            return new Entry(WEIGHT_MAX, text.toString());
        }
        int weight = weight(text, semicolon);
        if (weight < 0) {
            return new Entry(-1, text.toString());
        }
        text.setLength(semicolon);
        if (weight < WEIGHT_MAX) {
            text.append(";q=").append(weight);
        }
        return new Entry(weight, text.toString());
    }

    /** Returns the weight after the semicolon in thousandths, or -1 when it is invalid (RFC 9110 s12.4.2). */
    private static int weight(CharSequence text, int semicolon) {
        int at = semicolon + 1;
        int length = text.length();
        boolean isWeight = length - at >= 3 && length - at <= 7 && text.charAt(at) == 'q' && text.charAt(at + 1) == '=';
        int units = isWeight ? text.charAt(at + 2) - '0' : -1;
        if (units != 0 && units != 1) {
            return -1;
        }
        int fraction = 0;
        for (int i = at + 3; i < at + 7; i++) {
            int digit = i == at + 3 || i >= length ? 0 : text.charAt(i) - '0';
            if (digit < 0 || digit > 9 || (i == at + 3 && i < length && text.charAt(i) != '.')) {
                return -1;
            }
            fraction = fraction * 10 + digit;
        }
        int weight = units * WEIGHT_MAX + fraction;
        return weight > WEIGHT_MAX ? -1 : weight;
    }
}
