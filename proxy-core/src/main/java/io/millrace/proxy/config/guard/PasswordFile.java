package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.InvalidValueException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The users of an htpasswd file, with bcrypt hashes of their passwords. Immutable. */
public final class PasswordFile {
    /** Limit of the length of passwords, in bytes of UTF-8: bcrypt reads no more. */
    public static final int PASSWORD_MAX = 72;

    /** Limit of the cost in hashes: 14 takes about a second. */
    static final int COST_MAX = 14;

    private static final int COST_MIN = 4;
    private static final int USERS_MAX = 10_000;
    private static final int HASH_LENGTH = 60;

    private final Map<String, String> hashes = new LinkedHashMap<>();
    private final byte[] digest;

    private PasswordFile(byte[] digest) {
        this.digest = digest;
    }

    /**
     * Parses a file. Each line is {@code USER:HASH}; an empty line or one that begins with {@code #} is ignored.
     *
     * @throws InvalidValueException if a line has a fault; the message has file and line
     */
    public static PasswordFile parse(LoadedFile file) throws InvalidValueException {
        PasswordFile users = new PasswordFile(sha256(file.content()));
        String[] lines = new String(file.content(), StandardCharsets.UTF_8).split("\n", -1);
        for (int i = 0; i < lines.length; i++) {
            String line = lines[i].strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            String fault = users.addUser(line);
            if (fault != null) {
                throw new InvalidValueException(file.path() + ":" + (i + 1) + ": " + fault);
            }
        }
        if (users.hashes.isEmpty()) {
            throw new InvalidValueException(file.path() + ": has no user; add one with htpasswd -B");
        }
        return users;
    }

    private static byte[] sha256(byte[] content) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(content);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-256", e);
        }
    }

    /** Adds the user of a line. Returns the fault of the line, or null if there is none. */
    private @Nullable String addUser(String line) {
        int colon = line.indexOf(':');
        if (colon < 1) {
            return "is not of the form USER:HASH";
        }
        String user = line.substring(0, colon);
        String hash = line.substring(colon + 1);
        boolean bcrypt = (hash.startsWith("$2y$") || hash.startsWith("$2a$") || hash.startsWith("$2b$"))
                && hash.length() == HASH_LENGTH
                && hash.charAt(6) == '$'
                && hash.substring(7).chars().allMatch(PasswordFile::isHashCharacter);
        int cost = bcrypt ? cost(hash) : COST_MIN;
        if (!bcrypt) {
            return "the password of " + user + " is not a bcrypt hash; write it again with htpasswd -B";
        }
        if (cost < COST_MIN || cost > COST_MAX) {
            return "the hash of " + user + " has the cost " + hash.substring(4, 6) + ", expected " + COST_MIN + " to "
                    + COST_MAX;
        }
        if (hashes.size() == USERS_MAX) {
            return "has more users than the limit of " + USERS_MAX;
        }
        return hashes.putIfAbsent(user, hash) == null ? null : "the user " + user + " is listed twice";
    }

    private static boolean isHashCharacter(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '/';
    }

    private static int cost(String hash) {
        int tens = hash.charAt(4) - '0';
        int ones = hash.charAt(5) - '0';
        return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : 10 * tens + ones;
    }

    /** Returns the hash of a user's password; null for an unknown user. */
    public @Nullable String hash(String user) {
        return hashes.get(user);
    }

    /** Returns the hash of an arbitrary user. The check of an unknown user compares this hash, to take equally long. */
    public String anyHash() {
        return hashes.values().iterator().next();
    }

    /** SHA-256 of the file. Borrowed, and must not be changed. */
    public byte[] digest() {
        return digest;
    }
}
