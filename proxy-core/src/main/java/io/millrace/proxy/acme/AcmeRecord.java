package io.millrace.proxy.acme;

import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The ACME state of one host name: its certificate and its orders. Immutable. Times are in seconds since 1970.
 *
 * @param name host name in the certificate
 * @param issuer URL of the issuer of the certificate; empty before the first certificate
 * @param issuedSeconds when the certificate was stored; 0 before the first certificate
 * @param expirySeconds end of the certificate's validity; 0 before the first certificate
 * @param renewalSeconds when a new certificate is ordered; 0 for as soon as possible
 * @param failures failed orders since the last successful one
 * @param retrySeconds earliest time of the next order after a failure
 * @param error message of the last failed order; empty after a successful one
 * @param errorSeconds time of that error
 * @param orders start times of the orders of the last hour, the oldest first
 */
public record AcmeRecord(
        String name,
        String issuer,
        long issuedSeconds,
        long expirySeconds,
        long renewalSeconds,
        int failures,
        long retrySeconds,
        String error,
        long errorSeconds,
        List<Long> orders) {
    private static final String SUFFIX = ".record";

    public AcmeRecord {
        orders = List.copyOf(orders);
    }

    /** Returns the initial record of a name, before the first order. */
    public static AcmeRecord of(String name) {
        return new AcmeRecord(name, "", 0, 0, 0, 0, 0, "", 0, List.of());
    }

    /** Returns the state as one word: {@code valid}, {@code pending}, {@code failing} or {@code expired}. */
    public String state(long nowSeconds) {
        if (expirySeconds > 0 && expirySeconds <= nowSeconds) {
            return "expired";
        }
        if (failures > 0) {
            return "failing";
        }
        return expirySeconds == 0 ? "pending" : "valid";
    }

    /**
     * Returns true if an order may begin. The renewal time must have come, and a pause after a failure must have ended.
     */
    public boolean isDue(long nowSeconds) {
        return renewalSeconds <= nowSeconds && retrySeconds <= nowSeconds;
    }

    /** Returns when an order last began or ended. */
    public long changedSeconds() {
        long ordered = orders.isEmpty() ? 0 : orders.get(orders.size() - 1);
        return Math.max(ordered, Math.max(issuedSeconds, errorSeconds));
    }

    /** Returns a copy whose next order begins at a given time or later. */
    public AcmeRecord retryAt(long seconds) {
        return new AcmeRecord(
                name,
                issuer,
                issuedSeconds,
                expirySeconds,
                renewalSeconds,
                failures,
                seconds,
                error,
                errorSeconds,
                orders);
    }

    /** Returns the name of the record's file in {@link AcmeFiles#records}. */
    public static String fileName(String name) {
        return AcmeFiles.fileName(name) + SUFFIX;
    }

    /** Formats the record as the text of a file. */
    public String text() {
        TreeMap<String, String> fields = new TreeMap<>();
        fields.put("name", name);
        fields.put("issuer", issuer);
        fields.put("issued", Long.toString(issuedSeconds));
        fields.put("expiry", Long.toString(expirySeconds));
        fields.put("renewal", Long.toString(renewalSeconds));
        fields.put("failures", Integer.toString(failures));
        fields.put("retry", Long.toString(retrySeconds));
        fields.put("error", error);
        fields.put("error_at", Long.toString(errorSeconds));
        fields.put(
                "orders", String.join(" ", orders.stream().map(Object::toString).toList()));
        Properties properties = new Properties();
        properties.putAll(fields);
        StringWriter text = new StringWriter();
        try {
            properties.store(text, null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    /**
     * Parses the text of a file.
     *
     * @throws IllegalArgumentException if the text is damaged
     */
    public static AcmeRecord parse(String text) {
        Properties fields = new Properties();
        try {
            fields.load(new StringReader(text));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String name = fields.getProperty("name", "");
        if (name.isEmpty()) {
            throw new IllegalArgumentException("the record has no name");
        }
        List<Long> orders = new ArrayList<>();
        for (String each : fields.getProperty("orders", "").split(" ", -1)) {
            if (!each.isEmpty()) {
                orders.add(Long.parseLong(each));
            }
        }
        return new AcmeRecord(
                name,
                fields.getProperty("issuer", ""),
                number(fields, "issued"),
                number(fields, "expiry"),
                number(fields, "renewal"),
                (int) number(fields, "failures"),
                number(fields, "retry"),
                fields.getProperty("error", ""),
                number(fields, "error_at"),
                orders);
    }

    private static long number(Properties fields, String name) {
        return Long.parseLong(fields.getProperty(name, "0"));
    }

    /** Returns every record in a storage, sorted by name, except damaged records. Blocks. */
    public static List<AcmeRecord> all(@Nullable AcmeFiles files) throws IOException {
        List<AcmeRecord> all = new ArrayList<>();
        if (files == null) {
            return all;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(files.records(), "*" + SUFFIX)) {
            for (Path entry : entries) {
                AcmeRecord record = String.valueOf(entry.getFileName()).startsWith(".") ? null : read(entry);
                if (record != null) {
                    all.add(record);
                }
            }
        } catch (NoSuchFileException e) {
            return all;
        }
        all.sort(Comparator.comparing(AcmeRecord::name));
        return all;
    }

    /** Reads one record. Returns null if the file is damaged, or is missing because it is being replaced. */
    private static @Nullable AcmeRecord read(Path file) throws IOException {
        try {
            return parse(Files.readString(file));
        } catch (NoSuchFileException | IllegalArgumentException e) {
            return null;
        }
    }
}
