package io.millrace.proxy.access;

import io.millrace.proxy.config.guard.SigningKeys;
import io.millrace.proxy.http.IpAddress;
import io.netty.util.NetUtil;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Verifies the signatures of URLs, in the format of Traffic Server's plugin url_sig and in Millrace's own format. Both
 * formats have their parameters at the end of the query; the signature is last and covers the text before it.
 *
 * <p>Confined to one event loop.
 */
public final class SignedUrl {
    /** Limit of the length of a URL, as in url_sig. */
    private static final int URL_MAX = 8192;

    /** Limit of keys whose {@link Mac} objects are kept between requests. */
    private static final int MACS_MAX = 256;

    private static final String OWN_SIGNATURE = "mr-signature=";
    private static final String OWN_EXPIRES = "mr-expires=";

    /** The result of a verification. */
    public enum Result {
        VALID("valid", "the signature is valid"),
        MISSING("missing", "the URL has no signature"),
        MALFORMED("malformed", "the parameters of the signature are incomplete or malformed"),
        EXPIRED("expired", "the signature has expired"),
        CLIENT("client", "the signature is for another client address"),
        KEY("key", "the key of the signature is unknown"),
        PREFIX("prefix", "the signature is for other paths"),
        SIGNATURE("signature", "the signature does not match the URL");

        private final String detail;
        private final String text;

        Result(String word, String text) {
            this.detail = "signed-url:" + word;
            this.text = text;
        }

        /** The name in logs and Cache-Status: {@code signed-url:expired}. */
        public String detail() {
            return detail;
        }

        /** A sentence for the client and for {@code explain}. */
        public String text() {
            return text;
        }
    }

    private final Map<SecretKeySpec, Mac> macs = new HashMap<>();

    private String query = "";

    /**
     * The query without the parameters of the signature, after a verification with the result {@link Result#VALID};
     * empty for none.
     */
    public String unsignedQuery() {
        return query;
    }

    /**
     * Verifies the signature of a URL.
     *
     * @param url absolute URL
     * @param client the client's address; null if it is unknown
     * @param nowSeconds the wall-clock time, in epoch seconds
     */
    public Result verify(SigningKeys keys, String url, @Nullable IpAddress client, long nowSeconds) {
        int question = url.indexOf('?');
        if (question < 0 || url.length() > URL_MAX) {
            return url.length() > URL_MAX ? Result.MALFORMED : Result.MISSING;
        }
        String fullQuery = url.substring(question + 1);
        String hostAndPath = url.substring(url.indexOf("//") + 2, question);
        int ownSignature = startOf(fullQuery, OWN_SIGNATURE);
        if (ownSignature >= 0) {
            return verifyOwnFormat(keys, hostAndPath, fullQuery, ownSignature, client, nowSeconds);
        }
        int signature = startOf(fullQuery, "S=");
        return signature < 0
                ? Result.MISSING
                : verifyUrlSig(keys, hostAndPath, fullQuery, signature, client, nowSeconds);
    }

    /** Returns the index of the last parameter of the query if it begins with a text; negative if it does not. */
    private static int startOf(String query, String name) {
        int start = query.lastIndexOf('&') + 1;
        return query.startsWith(name, start) ? start : -1;
    }

    /** Verifies a signature of url_sig. */
    private Result verifyUrlSig(
            SigningKeys keys,
            String hostAndPath,
            String fullQuery,
            int signature,
            @Nullable IpAddress client,
            long nowSeconds) {
        Map<String, String> values = new HashMap<>();
        int start = parameters(fullQuery, signature, "C E A K P", values);
        String algorithm = values.get("A");
        String parts = values.get("P");
        long expires = number(values.get("E"));
        long index = number(values.get("K"));
        if (algorithm == null || parts == null || expires < 0 || index < 0 || !isParts(parts)) {
            return Result.MALFORMED;
        }
        SecretKeySpec key = keys.numbered((int) Math.min(index, SigningKeys.NUMBERED_MAX));
        if (key == null) {
            return Result.KEY;
        }
        if (expires < nowSeconds) {
            return Result.EXPIRED;
        }
        if (!matchesClient(values.get("C"), client)) {
            return Result.CLIENT;
        }
        String name = algorithm.equals("1") ? "HmacSHA1" : algorithm.equals("2") ? "HmacMD5" : "";
        String signed = partsOf(hostAndPath, parts);
        if (name.isEmpty() || signed.isEmpty()) {
            return Result.MALFORMED;
        }
        byte[] expected = mac(
                new SecretKeySpec(key.getEncoded(), name),
                signed.substring(0, signed.length() - 1) + "?" + fullQuery.substring(0, signature + 2));
        byte[] received;
        try {
            received = HexFormat.of().parseHex(fullQuery.substring(signature + 2));
        } catch (IllegalArgumentException e) {
            return Result.MALFORMED;
        }
        return compareSignatures(expected, received, fullQuery, start);
    }

    /** Verifies a signature in Millrace's own format. */
    private Result verifyOwnFormat(
            SigningKeys keys,
            String hostAndPath,
            String fullQuery,
            int signature,
            @Nullable IpAddress client,
            long nowSeconds) {
        Map<String, String> values = new HashMap<>();
        int start = parameters(fullQuery, signature, "mr-expires mr-key mr-client mr-prefix", values);
        String name = values.get("mr-key");
        long expires = number(values.get("mr-expires"));
        if (name == null || expires < 0 || !fullQuery.startsWith(OWN_EXPIRES, start)) {
            return Result.MALFORMED;
        }
        SecretKeySpec key = keys.named(name);
        if (key == null) {
            return Result.KEY;
        }
        if (expires < nowSeconds) {
            return Result.EXPIRED;
        }
        if (!matchesClient(values.get("mr-client"), client)) {
            return Result.CLIENT;
        }
        String prefix = values.get("mr-prefix");
        String signed = hostAndPath + "?" + fullQuery.substring(0, signature + OWN_SIGNATURE.length());
        if (prefix != null) {
            int slash = hostAndPath.indexOf('/');
            if (slash < 0 || !isBelow(hostAndPath.substring(slash), prefix)) {
                return Result.PREFIX;
            }
            // The signature does not cover the rest of the path and the other parameters.
            signed = hostAndPath.substring(0, slash) + prefix + "*?"
                    + fullQuery.substring(start, signature + OWN_SIGNATURE.length());
        }
        byte[] received;
        try {
            received = Base64.getUrlDecoder().decode(fullQuery.substring(signature + OWN_SIGNATURE.length()));
        } catch (IllegalArgumentException e) {
            return Result.MALFORMED;
        }
        return compareSignatures(mac(key, signed), received, fullQuery, start);
    }

    private Result compareSignatures(byte[] expected, byte[] received, String fullQuery, int start) {
        if (!MessageDigest.isEqual(expected, received)) {
            return Result.SIGNATURE;
        }
        query = start == 0 ? "" : fullQuery.substring(0, start - 1);
        return Result.VALID;
    }

    /** Reads the parameters in front of the signature whose names are known. Returns the index of the first one. */
    private static int parameters(String query, int signature, String names, Map<String, String> values) {
        int start = signature;
        while (start > 0) {
            int before = query.lastIndexOf('&', start - 2) + 1;
            int equals = query.indexOf('=', before);
            String name = equals < 0 || equals >= start ? "" : query.substring(before, equals);
            boolean isSignatureParameter = !name.isEmpty() && (" " + names + " ").contains(" " + name + " ");
            if (!isSignatureParameter || values.putIfAbsent(name, query.substring(equals + 1, start - 1)) != null) {
                break;
            }
            start = before;
        }
        return start;
    }

    private static boolean isParts(String parts) {
        return !parts.isEmpty() && parts.chars().allMatch(c -> c == '0' || c == '1');
    }

    /**
     * Returns the signed parts of host and path, each with a slash behind it.
     *
     * @param parts a digit for each part, 1 if it is signed; the last digit applies to all remaining parts
     */
    private static String partsOf(String hostAndPath, String parts) {
        StringBuilder signed = new StringBuilder();
        int digit = 0;
        for (String part : hostAndPath.split("/", -1)) {
            if (!part.isEmpty()) {
                if (parts.charAt(digit) == '1') {
                    signed.append(part).append('/');
                }
                digit = Math.min(digit + 1, parts.length() - 1);
            }
        }
        return signed.toString();
    }

    /** Returns true if a path begins with a prefix, and cannot leave it by plain or percent-encoded dot segments. */
    private static boolean isBelow(String path, String prefix) {
        return prefix.startsWith("/")
                && path.startsWith(prefix)
                && !path.toLowerCase(Locale.ROOT).replace("%2e", ".").contains("..");
    }

    private static boolean matchesClient(@Nullable String signedAddress, @Nullable IpAddress client) {
        if (signedAddress == null) {
            return true;
        }
        byte[] address = NetUtil.createByteArrayFromIpAddressString(
                signedAddress.replace("%3A", ":").replace("%3a", ":"));
        return address != null && IpAddress.of(address).equals(client);
    }

    /** Returns the number in a text; negative if the text is not a number. */
    private static long number(@Nullable String text) {
        if (text == null || text.isEmpty() || text.length() > 18) {
            return -1;
        }
        return text.chars().allMatch(c -> c >= '0' && c <= '9') ? Long.parseLong(text) : -1;
    }

    private byte[] mac(SecretKeySpec key, String text) {
        Mac mac = macs.get(key);
        if (mac == null) {
            try {
                mac = Mac.getInstance(key.getAlgorithm());
                mac.init(key);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("this Java runtime has no " + key.getAlgorithm(), e);
            }
            if (macs.size() >= MACS_MAX) {
                // The map is full, because it still contains keys of earlier configurations.
                macs.clear();
            }
            macs.put(key, mac);
        }
        return mac.doFinal(text.getBytes(StandardCharsets.ISO_8859_1));
    }
}
