package io.millrace.proxy.config.problem;

import org.jspecify.annotations.Nullable;

/**
 * An error or a warning about a configuration. Immutable.
 *
 * @param severity an error prevents the use of the configuration
 * @param file file name as given, or {@code --set KEY} or {@code config set KEY}; null for settings made in code
 * @param line line number from 1; 0 if the problem has no position in a file
 * @param column column number from 1; 0 if the problem has no position in a file
 * @param path full name of the key, elements by index: {@code remap[2].to}; empty for the file as a whole
 * @param message description of the problem, with the limit if one was exceeded
 * @param suggestion the value that was probably meant, or null
 */
public record ConfigProblem(
        Severity severity,
        @Nullable String file,
        int line,
        int column,
        String path,
        String message,
        @Nullable String suggestion) {
    /** The effect of a problem on the use of the configuration. */
    public enum Severity {
        /** The configuration is not used. */
        ERROR,
        /** The configuration is used, but a part of it has no effect or is probably unintended. */
        WARNING
    }

    /**
     * Formats the problem as one line: {@code millrace.yaml:12:7: cache.ram_szie: unknown key (did you mean
     * ram_size?)}. Control and invisible characters are escaped, since YAML can contain every character and a terminal
     * might execute them.
     */
    public String text() {
        StringBuilder text = new StringBuilder();
        if (file != null) {
            text.append(file);
            if (line > 0) {
                text.append(':').append(line).append(':').append(column);
            }
            text.append(": ");
        }
        if (severity == Severity.WARNING) {
            text.append("warning: ");
        }
        // The place of a value from --set or config set contains its key already.
        if (!path.isEmpty() && !(("--set " + path).equals(file) || (SettingPlace.OVERLAY + path).equals(file))) {
            text.append(path).append(": ");
        }
        text.append(message);
        if (suggestion != null) {
            text.append(" (did you mean ").append(suggestion).append("?)");
        }
        return printable(text.toString());
    }

    private static String printable(String text) {
        StringBuilder printable = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (isPrintable(c)) {
                printable.append(c);
            } else {
                String digits = Integer.toHexString(c);
                printable.append("\\u").append("0".repeat(4 - digits.length())).append(digits);
            }
        }
        return printable.toString();
    }

    private static boolean isPrintable(char c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    @Override
    public String toString() {
        return text();
    }
}
