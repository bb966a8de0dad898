package io.millrace.cli.warm;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The distinct valid requests of a source, each with its number and a hash of all requests up to it. Confined to one
 * thread.
 */
public final class Feed implements Closeable {
    /** Limit of invalid URLs that the report names. */
    private static final int NAMED_MAX = 5;

    private final UrlSource source;
    private final SeenUrls seen = new SeenUrls();
    private final List<String> invalidNamed = new ArrayList<>();
    private long number;
    private long invalid;
    private long repeated;
    private SequenceHash hash = SequenceHash.NONE;

    /** @param source closed with this feed */
    public Feed(UrlSource source) {
        this.source = source;
    }

    @Nullable
    WarmRequest next() throws IOException {
        for (UrlSource.Item item = source.next(); item != null; item = source.next()) {
            WarmUrl url = WarmUrl.parse(item.url());
            if (url == null) {
                invalid++;
                if (invalidNamed.size() < NAMED_MAX) {
                    String text = item.url();
                    invalidNamed.add(text.length() > 100 ? text.substring(0, 97) + "..." : text);
                }
                continue;
            }
            List<String> fields = new ArrayList<>();
            item.fields().forEach(fields::add);
            String text = url.text() + (fields.isEmpty() ? "" : "\n" + String.join("\n", fields));
            if (!seen.add(text)) {
                repeated++;
                continue;
            }
            hash = hash.then(text);
            return new WarmRequest(url, List.copyOf(fields), ++number, hash);
        }
        return null;
    }

    /**
     * Skips the requests of an interrupted run.
     *
     * @throws IOException if the input does not begin with these requests
     */
    void skip(long count, SequenceHash reached) throws IOException {
        for (long i = 0; i < count; i++) {
            if (next() == null) {
                break;
            }
        }
        if (number != count || !hash.equals(reached)) {
            throw new IOException("the input has changed: its first " + count
                    + " URLs are not those of the interrupted run; remove the file of --resume to start again");
        }
    }

    /** Number of requests that were returned. */
    long number() {
        return number;
    }

    SequenceHash hash() {
        return hash;
    }

    /** Number of texts that are not absolute http or https URLs. */
    public long invalid() {
        return invalid;
    }

    /** The first of the invalid texts. */
    public List<String> invalidNamed() {
        return invalidNamed;
    }

    /** Number of requests that were left out because an equal request came shortly before. */
    public long repeated() {
        return repeated;
    }

    /** Number of parts of the input that are not requests to warm, such as log lines of other methods. */
    public long skipped() {
        return source.skipped();
    }

    @Override
    public void close() throws IOException {
        source.close();
    }
}
