package io.millrace.proxy.purge.pattern;

import io.millrace.proxy.expression.stored.StoredFacts;
import io.millrace.proxy.expression.stored.StoredUrl;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The facts of a stored response whose URL alone is known, for purge expressions. All other values are empty. */
record UrlFacts(StoredUrl url) implements StoredFacts {
    @Override
    public int status() {
        return 0;
    }

    @Override
    public @Nullable String contentType() {
        return null;
    }

    @Override
    public long ageNanos() {
        return 0;
    }

    @Override
    public long bodyBytes() {
        return -1;
    }

    @Override
    public List<String> tags() {
        return List.of();
    }

    @Override
    public List<String> header(String name) {
        return List.of();
    }

    @Override
    public String tier() {
        return "";
    }
}
