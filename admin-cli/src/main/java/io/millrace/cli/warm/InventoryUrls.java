package io.millrace.cli.warm;

import io.millrace.cli.client.JsonObject;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The URLs of stored objects from the inventory (the table of these objects), with the request fields of their
 * variants. Confined to one thread.
 */
public final class InventoryUrls implements UrlSource {
    /** Length at which the inventory cuts the description of a variant. */
    private static final int VARIANT_LENGTH_MAX = 512;

    private final Pages pages;
    private final Deque<Item> items = new ArrayDeque<>();
    private @Nullable String after;
    private boolean isAtEnd;
    private long skipped;
    private boolean isWhole = true;

    /** Reads pages of the inventory. */
    @FunctionalInterface
    public interface Pages {
        /**
         * Returns a page: the JSON of the response to {@code GET /v1/cache/list}.
         *
         * @param after position in the inventory after which the page begins; null for the first page
         */
        JsonObject page(@Nullable String after) throws IOException;
    }

    public InventoryUrls(Pages pages) {
        this.pages = pages;
    }

    @Override
    public @Nullable Item next() throws IOException {
        while (items.isEmpty() && !isAtEnd) {
            JsonObject page = pages.page(after);
            for (JsonObject object : page.objects("objects")) {
                add(object.text("url", ""), object.text("variant"));
            }
            isWhole &= page.isTrue("complete");
            after = page.text("next");
            isAtEnd = after == null;
        }
        return items.poll();
    }

    private void add(String key, @Nullable String variant) {
        // Some keys have a suffix after a space, which no URL contains.
        int end = key.indexOf(' ');
        String url = end < 0 ? key : key.substring(0, end);
        if (variant == null) {
            items.add(Item.of(url));
            return;
        }
        List<String> fields = variant.length() >= VARIANT_LENGTH_MAX ? null : fields(variant);
        if (fields == null) {
            skipped++;
        } else {
            items.add(new Item(url, fields));
        }
    }

    /**
     * Returns the fields in a text such as {@code Accept-Encoding: gzip; Origin absent}; null if a request could not
     * have these fields.
     */
    static @Nullable List<String> fields(String variant) {
        List<String> fields = new ArrayList<>();
        for (String part : variant.split("; ", -1)) {
            int colon = part.indexOf(": ");
            boolean isName = colon > 0 && isName(part.substring(0, colon));
            if (isName) {
                String name = part.substring(0, colon).toLowerCase(Locale.ROOT);
                if (name.equals("host") || name.equals("content-length") || name.equals("transfer-encoding")) {
                    return null;
                }
                fields.add(part);
            } else if (!(part.endsWith(" absent") && isName(part.substring(0, part.length() - 7)))) {
                if (fields.isEmpty()) {
                    return null;
                }
                // This part belongs to the value of the previous field.
                int last = fields.size() - 1;
                fields.set(last, fields.get(last) + "; " + part);
            }
        }
        for (String field : fields) {
            for (int i = 0; i < field.length(); i++) {
                if (field.charAt(i) < ' ' || field.charAt(i) > '~') {
                    return null;
                }
            }
        }
        return fields;
    }

    private static boolean isName(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isPlain = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
            if (!isPlain && (c < '0' || c > '9') && "!#$%&'*+-.^_`|~".indexOf(c) < 0) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    @Override
    public long skipped() {
        return skipped;
    }

    /** Whether every page was complete. */
    public boolean isWhole() {
        return isWhole;
    }

    @Override
    public void close() {
        items.clear();
    }
}
