package io.millrace.proxy.config.value;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A version of the TLS protocol, oldest first. */
public enum TlsVersion {
    TLS_1_0("TLSv1", "1.0"),
    TLS_1_1("TLSv1.1", "1.1"),
    TLS_1_2("TLSv1.2", "1.2"),
    TLS_1_3("TLSv1.3", "1.3");

    private final String text;
    private final String number;

    TlsVersion(String text, String number) {
        this.text = text;
        this.number = number;
    }

    /** The name in TLS libraries, such as {@code TLSv1.3}. */
    public String text() {
        return text;
    }

    /** Returns the names of all versions from {@code least} to {@code most}, both included, for TLS libraries. */
    public static String[] between(TlsVersion least, TlsVersion most) {
        List<String> names = new ArrayList<>();
        for (TlsVersion version : values()) {
            if (version.compareTo(least) >= 0 && version.compareTo(most) <= 0) {
                names.add(version.text);
            }
        }
        return names.toArray(String[]::new);
    }

    /** Parses {@code TLSv1.2} or {@code 1.2}, ignoring case. */
    public static TlsVersion parse(String text) throws InvalidValueException {
        String lower = text.toLowerCase(Locale.ROOT);
        for (TlsVersion version : values()) {
            if (lower.equals(version.text.toLowerCase(Locale.ROOT)) || lower.equals(version.number)) {
                return version;
            }
        }
        throw new InvalidValueException(
                "'" + text + "' is none of " + String.join(", ", words()), Suggestions.closest(text, words()));
    }

    public static List<String> words() {
        return List.of(between(TLS_1_0, TLS_1_3));
    }
}
