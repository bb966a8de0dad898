package io.millrace.proxy.admin;

import java.nio.charset.StandardCharsets;

/** Conversion of metrics in the Prometheus text format to the OpenMetrics format. Stateless. */
final class OpenMetrics {
    private static final byte[] END = "# EOF\n".getBytes(StandardCharsets.US_ASCII);
    private static final String COUNTER_SUFFIX = "_total";
    private static final String HELP = "# HELP ";
    private static final String TYPE = "# TYPE ";

    private OpenMetrics() {}

    /**
     * Converts a text that has neither exemplars nor histograms. OpenMetrics names the family of a counter without
     * {@code _total}, and escapes quotes in descriptions.
     */
    static String of(String prometheusText) {
        StringBuilder converted = new StringBuilder(prometheusText.length());
        prometheusText.lines().forEach(line -> converted.append(line(line)).append('\n'));
        return converted.toString();
    }

    private static String line(String line) {
        boolean isHelp = line.startsWith(HELP);
        if (!isHelp && !line.startsWith(TYPE)) {
            return line;
        }
        int nameEnd = line.indexOf(' ', HELP.length());
        if (nameEnd < 0) {
            return line;
        }
        String head = line.substring(0, nameEnd);
        String afterName = line.substring(nameEnd);
        String family =
                head.endsWith(COUNTER_SUFFIX) ? head.substring(0, head.length() - COUNTER_SUFFIX.length()) : head;
        return family + (isHelp ? afterName.replace("\"", "\\\"") : afterName);
    }

    /** Returns the length of a text without the line that ends it. */
    static int lengthWithoutEnd(byte[] text) {
        int length = text.length - END.length;
        for (int i = 0; i < END.length; i++) {
            if (length < 0 || text[length + i] != END[i]) {
                return text.length;
            }
        }
        return length;
    }

    static byte[] end() {
        return END.clone();
    }
}
