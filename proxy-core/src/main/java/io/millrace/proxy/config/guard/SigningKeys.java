package io.millrace.proxy.config.guard;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Regex;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The keys of signed URLs, read from a file. The file has the format of Traffic Server's plugin url_sig, and may also
 * contain keys in Millrace's own form, {@code NAME = hmac-sha256:BASE64}. Immutable.
 */
public final class SigningKeys {
    /** Limit of keys with numbers ({@code key0} to {@code key15}), as in url_sig. */
    public static final int NUMBERED_MAX = 16;

    /** Limit of keys in Millrace's own form, which have names, in a file. */
    static final int NAMED_MAX = 64;

    /** Least length of the secret of a key with a name, in bytes. */
    static final int SECRET_MIN = 16;

    private static final String NAMED_PREFIX = "hmac-sha256:";

    private final @Nullable SecretKeySpec[] numbered = new SecretKeySpec[NUMBERED_MAX];
    private final Map<String, SecretKeySpec> named = new HashMap<>();
    private @Nullable String errorUrl;
    private @Nullable Pattern excluded;

    private SigningKeys() {}

    /**
     * Parses a file of keys. Each line is {@code NAME = VALUE}; an empty line or one that begins with {@code #} is
     * ignored.
     *
     * @throws InvalidValueException if a line has a fault; the message has file and line
     */
    public static SigningKeys parse(LoadedFile file) throws InvalidValueException {
        SigningKeys keys = new SigningKeys();
        String[] lines = new String(file.content(), StandardCharsets.UTF_8).split("\n", -1);
        for (int i = 0; i < lines.length; i++) {
            String line = lines[i].strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            String fault = keys.addLine(line);
            if (fault != null) {
                throw new InvalidValueException(file.path() + ":" + (i + 1) + ": " + fault);
            }
        }
        if (keys.named.isEmpty() && keys.hasNoNumberedKey()) {
            throw new InvalidValueException(file.path() + ": has no key, such as key0 = SECRET");
        }
        return keys;
    }

    private boolean hasNoNumberedKey() {
        for (SecretKeySpec key : numbered) {
            if (key != null) {
                return false;
            }
        }
        return true;
    }

    /** Adds the key or setting of a line. Returns the fault of the line, or null if there is none. */
    private @Nullable String addLine(String line) {
        int equals = line.indexOf('=');
        if (equals < 1) {
            return "is not of the form NAME = VALUE";
        }
        String name = line.substring(0, equals).strip();
        String value = line.substring(equals + 1).strip();
        if (value.isEmpty()) {
            return name + " has no value";
        }
        if (value.startsWith(NAMED_PREFIX)) {
            return addNamed(name, value.substring(NAMED_PREFIX.length()));
        }
        return switch (name) {
            case "error_url" -> readErrorUrl(value);
            case "excl_regex" -> readExcluded(value);
            case "sig_anchor" -> "sig_anchor: signatures in path parameters are not supported; use the query";
            default -> addNumbered(name, value);
        };
    }

    private @Nullable String readExcluded(String value) {
        try {
            excluded = Regex.compile(value);
            return null;
        } catch (PatternSyntaxException e) {
            return "excl_regex is no expression in RE2 syntax: " + e.getDescription();
        }
    }

    private @Nullable String readErrorUrl(String value) {
        if (value.equals("403")) {
            return null;
        }
        String url = value.startsWith("302") ? value.substring(3).strip() : "";
        boolean valid = (url.startsWith("http://") || url.startsWith("https://"))
                && url.chars().allMatch(c -> c > ' ' && c <= '~');
        errorUrl = url;
        return valid ? null : "error_url must be 403, or 302 and a URL";
    }

    private @Nullable String addNumbered(String name, String value) {
        int number = -1;
        if (name.matches("key[0-9]{1,2}")) {
            number = Integer.parseInt(name.substring(3));
        }
        if (number < 0 || number >= NUMBERED_MAX) {
            return "'" + name
                    + "' is none of key0 to key15, error_url and excl_regex, and its value does not begin with "
                    + NAMED_PREFIX;
        }
        if (numbered[number] != null) {
            return name + " is set twice";
        }
        numbered[number] = new SecretKeySpec(value.getBytes(StandardCharsets.UTF_8), "HMAC");
        return null;
    }

    private @Nullable String addNamed(String name, String encoded) {
        if (!name.matches("[A-Za-z0-9._-]{1,64}")) {
            return "'" + name + "' is not a name of 1 to 64 letters, digits, '-', '_' and '.'";
        }
        if (named.size() == NAMED_MAX) {
            return "has more keys with names than the limit of " + NAMED_MAX;
        }
        byte[] secret;
        try {
            secret = Base64.getDecoder().decode(encoded);
        } catch (IllegalArgumentException e) {
            return name + " is not in Base64: " + e.getMessage();
        }
        if (secret.length < SECRET_MIN) {
            return name + " has " + secret.length + " bytes, which is below the limit of " + SECRET_MIN;
        }
        return named.put(name, new SecretKeySpec(secret, "HmacSHA256")) == null ? null : name + " is set twice";
    }

    /** Returns the key with a number; null if there is none. */
    public @Nullable SecretKeySpec numbered(int number) {
        return number < 0 || number >= NUMBERED_MAX ? null : numbered[number];
    }

    /** Returns the key with a name; null if there is none. */
    public @Nullable SecretKeySpec named(String name) {
        return named.get(name);
    }

    /** The URL to which refused requests are redirected; null for 403. */
    public @Nullable String errorUrl() {
        return errorUrl;
    }

    /**
     * The expression for URLs that need no signature; it is matched against the URL without its query. Null for none.
     */
    public @Nullable Pattern excluded() {
        return excluded;
    }
}
