package io.millrace.cli.sign;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Signs URLs with a key from a file of {@code signed_urls.keys}. A key with a number (such as key0) signs in the format
 * of Traffic Server's plugin url_sig. A key with a name signs in Millrace's own format. Confined to one thread.
 */
public final class UrlSigner {
    private static final String MILLRACE_SECRET = "hmac-sha256:";
    private static final int SECRET_BYTES = 32;

    private final Map<String, String> keys = new LinkedHashMap<>();

    private UrlSigner() {}

    /**
     * Reads a file of keys. Ignores lines that are not a key.
     *
     * @throws IOException if the file cannot be read
     */
    public static UrlSigner of(Path file) throws IOException {
        UrlSigner signer = new UrlSigner();
        for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
            String text = line.strip();
            int equals = text.indexOf('=');
            if (equals > 0 && !text.startsWith("#")) {
                String name = text.substring(0, equals).strip();
                String value = text.substring(equals + 1).strip();
                boolean numbered = name.startsWith("key") && name.length() <= 5 && isNumber(name.substring(3));
                if (numbered || value.startsWith(MILLRACE_SECRET)) {
                    signer.keys.put(numbered && !value.startsWith(MILLRACE_SECRET) ? name.substring(3) : name, value);
                }
            }
        }
        return signer;
    }

    private static boolean isNumber(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return !text.isEmpty();
    }

    /** Returns a new line for a file of keys, with a random secret. */
    public static String newKey(String name) {
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        return name + " = " + MILLRACE_SECRET + Base64.getEncoder().encodeToString(secret);
    }

    /** Returns the names of the keys. The name of a key of url_sig is a number. */
    public Iterable<String> names() {
        return keys.keySet();
    }

    /** Returns the name of the first key; null if there is none. */
    public @Nullable String firstName() {
        return keys.isEmpty() ? null : keys.keySet().iterator().next();
    }

    /** Returns true if there is a key with this name. */
    public boolean has(String name) {
        return keys.containsKey(name);
    }

    /** Returns true if the key signs in the format of url_sig. Such a key has a number instead of a name. */
    public boolean isNumbered(String name) {
        String value = keys.get(name);
        return value != null && !value.startsWith(MILLRACE_SECRET);
    }

    /**
     * The requests that a signature permits.
     *
     * @param expiresSeconds end of the signature's validity, in epoch seconds
     * @param client the only permitted client address; null for all
     * @param parts for url_sig: a digit for the host and for each part of the path; 1 if the part is signed, 0 if it is
     *     not. The last digit applies to all further parts
     * @param md5 for url_sig: whether the algorithm is HMAC-MD5 instead of HMAC-SHA1
     * @param prefix for keys with a name: the beginning of the permitted paths; null for the path of the URL
     */
    public record Terms(
            long expiresSeconds,
            @Nullable String client,
            String parts,
            boolean md5,
            @Nullable String prefix) {}

    /**
     * Returns a URL with its signature.
     *
     * @param url an absolute URL
     * @throws IllegalArgumentException if the secret of the key is not valid; the message is for the user
     */
    public String sign(String url, String name, Terms terms) {
        String value = keys.get(name);
        if (value == null) {
            throw new IllegalArgumentException("no key has the name " + name);
        }
        int question = url.indexOf('?');
        String whole = question < 0 ? url : url.substring(0, question);
        String base = whole.substring(whole.indexOf("//") + 2);
        String query = question < 0 ? "" : url.substring(question + 1);
        String before = query.isEmpty() ? "" : query + "&";
        if (!value.startsWith(MILLRACE_SECRET)) {
            return whole + "?" + before + urlSigParameters(base, before, name, value, terms);
        }
        byte[] secret = Base64.getDecoder().decode(value.substring(MILLRACE_SECRET.length()));
        String parameters = "mr-expires=" + terms.expiresSeconds() + "&mr-key=" + name
                + (terms.client() == null ? "" : "&mr-client=" + terms.client())
                + (terms.prefix() == null ? "" : "&mr-prefix=" + terms.prefix()) + "&mr-signature=";
        int slash = base.indexOf('/');
        String signed = terms.prefix() == null
                ? base + "?" + before + parameters
                : base.substring(0, slash < 0 ? base.length() : slash) + terms.prefix() + "*?" + parameters;
        String signature = Base64.getUrlEncoder().withoutPadding().encodeToString(mac("HmacSHA256", secret, signed));
        return whole + "?" + before + parameters + signature;
    }

    /** Returns the query parameters of url_sig, with the signature at the end. */
    private static String urlSigParameters(String base, String before, String name, String secret, Terms terms) {
        String parameters = (terms.client() == null ? "" : "C=" + terms.client() + "&")
                + "E=" + terms.expiresSeconds() + "&A=" + (terms.md5() ? "2" : "1") + "&K=" + name + "&P="
                + terms.parts() + "&S=";
        StringBuilder signed = new StringBuilder();
        int digit = 0;
        int start = 0;
        while (start <= base.length()) {
            int slash = base.indexOf('/', start);
            int end = slash < 0 ? base.length() : slash;
            if (end > start) {
                if (terms.parts().charAt(digit) == '1') {
                    signed.append(base, start, end).append('/');
                }
                digit = Math.min(digit + 1, terms.parts().length() - 1);
            }
            start = end + 1;
        }
        if (signed.isEmpty()) {
            throw new IllegalArgumentException("--parts " + terms.parts() + " signs no part of the URL");
        }
        signed.setCharAt(signed.length() - 1, '?');
        byte[] mac = mac(
                terms.md5() ? "HmacMD5" : "HmacSHA1",
                secret.getBytes(StandardCharsets.UTF_8),
                signed + before + parameters);
        return parameters + HexFormat.of().formatHex(mac);
    }

    private static byte[] mac(String algorithm, byte[] secret, String text) {
        try {
            Mac mac = Mac.getInstance(algorithm);
            mac.init(new SecretKeySpec(secret, algorithm));
            return mac.doFinal(text.getBytes(StandardCharsets.ISO_8859_1));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no " + algorithm, e);
        }
    }
}
