package io.millrace.cli.bundle;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Removes secrets from texts of a support bundle, and counts what it removes. It works on YAML, JSON, command lines and
 * log lines. If it cannot tell whether a text is secret, it removes the text. Confined to one thread.
 */
public final class Redaction {
    /** The text that replaces a secret. */
    public static final String REDACTED = "[redacted]";

    private static final List<String> SECRET_NAMES = List.of(
            "password",
            "passwd",
            "passphrase",
            "secret",
            "token",
            "credential",
            "authorization",
            "cookie",
            "api_key",
            "apikey",
            "api-key",
            "private_key",
            "hmac");

    /** Endings of names whose value is the name of a file or a field, and not a secret. */
    private static final List<String> HARMLESS_ENDINGS = List.of("file", "path", "directory", "_field");

    private static final int RANDOM_WORD_LENGTH_MIN = 32;
    private static final String PEM_BEGIN = "-----BEGIN ";
    private static final String PEM_END = "-----END ";

    private final @Nullable AddressHash addresses;
    private int secrets;
    private int urlUsers;
    private int randomWords;
    private int pemBlocks;
    private int queries;

    /** @param addresses replaces IP addresses in logs; null to keep the addresses */
    public Redaction(@Nullable AddressHash addresses) {
        this.addresses = addresses;
    }

    /** Returns one line for each rule, with the number of texts that it has removed. */
    public List<String> report() {
        List<String> lines = new ArrayList<>();
        lines.add("values of names such as password, secret, token, cookie: " + secrets);
        lines.add("user names and passwords in URLs: " + urlUsers);
        lines.add("random words of " + RANDOM_WORD_LENGTH_MIN + " and more letters and digits: " + randomWords);
        lines.add("keys and certificates in PEM: " + pemBlocks);
        lines.add("queries of URLs in logs: " + queries);
        lines.add(
                addresses == null
                        ? "addresses in logs: kept (--with-addresses)"
                        : "addresses in logs, as salted hashes: " + addresses.count());
        return lines;
    }

    /** Removes secrets from a configuration, a command line or another text. */
    public String text(String text) {
        return lines(text, false, true);
    }

    /**
     * Removes secrets from JSON or metrics of Millrace. Does not remove long random words, since in these texts they
     * are identifiers and not keys.
     */
    public String data(String text) {
        return lines(text, false, false);
    }

    /**
     * Removes secrets and URL queries from log lines. Also replaces IP addresses, if the constructor received an
     * {@link AddressHash}.
     */
    public String log(String text) {
        return lines(text, true, true);
    }

    private String lines(String text, boolean isLog, boolean removesWords) {
        StringBuilder safe = new StringBuilder(text.length());
        boolean inPemBlock = false;
        // Indentation of the last secret name whose value begins on the next line; -1 for none.
        int secretIndent = -1;
        // True if this value is a YAML block scalar (| or >), so that all deeper lines belong to it.
        boolean isBlockScalar = false;
        int at = 0;
        while (at < text.length()) {
            int end = text.indexOf('\n', at);
            int next = end < 0 ? text.length() : end + 1;
            String line = text.substring(at, next);
            at = next;
            boolean isDeeper = secretIndent >= 0 && !line.isBlank() && indent(line) > secretIndent;
            if (isDeeper && (isBlockScalar || line.indexOf(':') < 0)) {
                secrets++;
                safe.append(" ".repeat(indent(line))).append(REDACTED).append('\n');
                continue;
            }
            if (isSecretWithoutValue(line)) {
                secretIndent = indent(line);
                isBlockScalar = !line.strip().endsWith(":");
            } else if (secretIndent >= indent(line)) {
                secretIndent = -1;
            }
            if (!inPemBlock && line.contains(PEM_BEGIN)) {
                pemBlocks++;
                safe.append(line, 0, line.indexOf(PEM_BEGIN)).append(REDACTED).append('\n');
                inPemBlock = !line.contains(PEM_END);
            } else if (inPemBlock) {
                inPemBlock = !line.contains(PEM_END);
            } else {
                safe.append(line(line, isLog, removesWords));
            }
        }
        return safe.toString();
    }

    private static int indent(String line) {
        int indent = 0;
        while (indent < line.length() && line.charAt(indent) == ' ') {
            indent++;
        }
        return indent;
    }

    /**
     * Returns true for a YAML line with a secret name and no value, such as {@code password:} or {@code password: |}.
     */
    private static boolean isSecretWithoutValue(String line) {
        String text = line.strip();
        while (!text.isEmpty() && "|>-+ ".indexOf(text.charAt(text.length() - 1)) >= 0) {
            text = text.substring(0, text.length() - 1);
        }
        return text.endsWith(":") && isSecret(text.substring(0, text.length() - 1));
    }

    private String line(String line, boolean isLog, boolean removesWords) {
        String safe = withoutUsers(line);
        safe = isLog ? withoutQueries(safe) : safe;
        safe = withoutSecrets(safe);
        safe = removesWords ? withoutRandomWords(safe) : safe;
        return isLog && addresses != null ? addresses.hashed(safe) : safe;
    }

    /** Removes {@code user:password} between {@code ://} and {@code @}. */
    private String withoutUsers(String line) {
        StringBuilder safe = new StringBuilder(line.length());
        int at = 0;
        for (int mark = line.indexOf("://"); mark >= 0; mark = line.indexOf("://", at)) {
            int start = mark + 3;
            int end = start;
            int atSign = -1;
            while (end < line.length() && "/ \t\n\r\"'<>?#,}]".indexOf(line.charAt(end)) < 0) {
                atSign = line.charAt(end) == '@' ? end : atSign;
                end++;
            }
            safe.append(line, at, start);
            if (atSign >= 0) {
                urlUsers++;
                safe.append(REDACTED);
            }
            at = atSign < 0 ? start : atSign;
        }
        return safe.append(line, at, line.length()).toString();
    }

    /** Removes URL queries. In a word with a slash, the text after the next question mark is a query. */
    private String withoutQueries(String line) {
        StringBuilder safe = new StringBuilder(line.length());
        boolean slash = false;
        int at = 0;
        while (at < line.length()) {
            char c = line.charAt(at);
            slash = c == '/' || (slash && !isEndOfWord(c));
            safe.append(c);
            at++;
            if (c == '?' && slash) {
                int end = at;
                while (end < line.length() && !isEndOfWord(line.charAt(end))) {
                    end++;
                }
                if (end > at) {
                    queries++;
                    safe.append(REDACTED);
                    at = end;
                }
            }
        }
        return safe.toString();
    }

    private static boolean isEndOfWord(char c) {
        return c <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>';
    }

    /** Removes the value in each {@code NAME: value} or {@code NAME=value} with a secret name. */
    private String withoutSecrets(String line) {
        StringBuilder safe = new StringBuilder(line.length());
        int at = 0;
        while (at < line.length()) {
            int end = at;
            while (end < line.length() && isNameCharacter(line.charAt(end))) {
                end++;
            }
            if (end == at) {
                safe.append(line.charAt(at++));
                continue;
            }
            safe.append(line, at, end);
            int value = isSecret(line.substring(at, end)) ? startOfValue(line, end) : -1;
            at = end;
            if (value >= 0) {
                int valueEnd = endOfValue(line, value);
                if (valueEnd > value) {
                    secrets++;
                    safe.append(line, end, value).append(REDACTED);
                    at = valueEnd;
                }
            }
        }
        return safe.toString();
    }

    private static boolean isSecret(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        for (String ending : HARMLESS_ENDINGS) {
            if (lower.endsWith(ending)) {
                return false;
            }
        }
        for (String secret : SECRET_NAMES) {
            if (lower.contains(secret)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the index of the value after a colon or an equals sign; -1 if neither follows the name. */
    private static int startOfValue(String line, int from) {
        int at = from;
        while (at < line.length() && "\"' \\".indexOf(line.charAt(at)) >= 0) {
            at++;
        }
        if (at >= line.length() || (line.charAt(at) != ':' && line.charAt(at) != '=')) {
            return -1;
        }
        at++;
        while (at < line.length() && (line.charAt(at) == ' ' || line.charAt(at) == '\\')) {
            at++;
        }
        return at;
    }

    /** Returns the end of a value. An unquoted value may contain spaces, as in {@code Bearer TOKEN}. */
    private static int endOfValue(String line, int start) {
        if (start >= line.length() || "[{\n\r".indexOf(line.charAt(start)) >= 0) {
            return start;
        }
        char quote = line.charAt(start);
        if (quote == '"' || quote == '\'') {
            int end = start + 1;
            while (end < line.length() && line.charAt(end) != quote) {
                end += line.charAt(end) == '\\' && end + 1 < line.length() ? 2 : 1;
            }
            return Math.min(line.length(), end + 1);
        }
        int end = start;
        while (end < line.length() && "\n\r\"',}]&".indexOf(line.charAt(end)) < 0) {
            end++;
        }
        return end;
    }

    private static boolean isNameCharacter(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '_'
                || c == '-'
                || c == '.';
    }

    /** Removes words that look like random keys: at least 32 characters, with letters and digits. */
    private String withoutRandomWords(String line) {
        StringBuilder safe = new StringBuilder(line.length());
        int at = 0;
        while (at < line.length()) {
            int end = at;
            boolean digit = false;
            boolean letter = false;
            while (end < line.length() && isWordCharacter(line.charAt(end))) {
                digit |= Character.isDigit(line.charAt(end));
                letter |= Character.isLetter(line.charAt(end));
                end++;
            }
            if (end - at >= RANDOM_WORD_LENGTH_MIN && digit && letter) {
                randomWords++;
                safe.append(REDACTED);
                at = end;
            } else if (end > at) {
                safe.append(line, at, end);
                at = end;
            } else {
                safe.append(line.charAt(at++));
            }
        }
        return safe.toString();
    }

    private static boolean isWordCharacter(char c) {
        return (isNameCharacter(c) && c != '.') || c == '+' || c == '=';
    }
}
