package io.millrace.cli.bundle;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Locale;

/**
 * Replaces IP addresses in text by hashes with a random salt. Within one support bundle, equal addresses have equal
 * hashes; other bundles have other hashes. Loopback addresses, {@code 0.0.0.0} and {@code ::} are kept. Confined to one
 * thread.
 */
public final class AddressHash {
    private static final int SALT_BYTES = 16;
    private static final int SHOWN_BYTES = 5;
    private static final int GROUPS = 8;
    private static final int ADDRESS_LENGTH_MAX = 45;

    private final byte[] salt = new byte[SALT_BYTES];
    private int count;

    /** Creates a replacer with a new random salt. */
    public AddressHash() {
        new SecureRandom().nextBytes(salt);
    }

    /** Returns the number of addresses replaced so far. */
    public int count() {
        return count;
    }

    /** Returns the text with hashes in place of addresses. */
    public String hashed(String text) {
        StringBuilder safe = new StringBuilder(text.length());
        int at = 0;
        while (at < text.length()) {
            int end = at;
            while (end < text.length() && isAddressCharacter(text.charAt(end))) {
                end++;
            }
            if (end > at) {
                boolean isSeparateWord = (at == 0 || !isWordCharacter(text.charAt(at - 1)))
                        && (end == text.length() || !isWordCharacter(text.charAt(end)));
                append(safe, text.substring(at, end), isSeparateWord);
                at = end;
            } else {
                safe.append(text.charAt(at++));
            }
        }
        return safe.toString();
    }

    private void append(StringBuilder safe, String run, boolean isSeparateWord) {
        int colon = run.indexOf(':');
        // 10.0.0.1:8080 is an address with a port, ::ffff:10.0.0.1 an address alone.
        String withoutPort = colon > 0 && run.indexOf(':', colon + 1) < 0 ? run.substring(0, colon) : run;
        String address = withoutPunctuation(withoutPort);
        if (isSeparateWord && (isIpV4(address) || isIpV6(address)) && !isLocal(address)) {
            count++;
            safe.append(hash(address)).append(run, address.length(), run.length());
        } else {
            safe.append(run);
        }
    }

    /** Removes a full stop or colon at the end, which belongs to the sentence and not to the address. */
    private static String withoutPunctuation(String text) {
        int end = text.length();
        while (end > 0 && text.charAt(end - 1) == '.') {
            end--;
        }
        if (end > 1 && text.charAt(end - 1) == ':' && text.charAt(end - 2) != ':') {
            end--;
        }
        return text.substring(0, end);
    }

    private String hash(String address) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(salt);
            byte[] whole = digest.digest(address.toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII));
            return "ip-" + HexFormat.of().formatHex(whole, 0, SHOWN_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static boolean isLocal(String address) {
        return address.startsWith("127.") || address.equals("::1") || address.equals("0.0.0.0") || address.equals("::");
    }

    private static boolean isAddressCharacter(char c) {
        return (Character.digit(c, 16) >= 0 && c < 0x80) || c == '.' || c == ':';
    }

    private static boolean isWordCharacter(char c) {
        return Character.isLetterOrDigit(c) || c == '_' || c == '-';
    }

    private static boolean isIpV4(String text) {
        String[] parts = text.split("\\.", -1);
        if (parts.length != 4) {
            return false;
        }
        for (String part : parts) {
            if (part.isEmpty() || part.length() > 3 || !isDecimal(part) || Integer.parseInt(part) > 255) {
                return false;
            }
        }
        return true;
    }

    private static boolean isDecimal(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns true for an IPv6 address: eight groups of up to four digits, or fewer groups and {@code ::}. An IPv4
     * address may replace the last two groups.
     */
    private static boolean isIpV6(String text) {
        boolean shortened = text.contains("::");
        if (text.length() > ADDRESS_LENGTH_MAX || text.indexOf(':') < 0 || text.equals("::")) {
            return false;
        }
        int groups = 0;
        for (String group : text.split(":", -1)) {
            if (group.indexOf('.') >= 0) {
                if (!isIpV4(group)) {
                    return false;
                }
                groups += 2;
            } else if (group.length() > 4) {
                return false;
            } else if (!group.isEmpty()) {
                groups++;
            }
        }
        return shortened ? groups > 0 && groups < GROUPS : groups == GROUPS;
    }
}
