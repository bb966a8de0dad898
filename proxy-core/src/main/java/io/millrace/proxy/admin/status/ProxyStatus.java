package io.millrace.proxy.admin.status;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The answer to {@code GET /v1/status}. Immutable.
 *
 * @param product name of the product
 * @param version version of the product
 * @param state state of the proxy
 * @param uptimeSeconds seconds since the start of this process
 * @param listeners the sockets that accept clients
 * @param connections open connections
 * @param requestsTotal client requests answered
 * @param cache counters of the cache
 * @param config the configuration in use
 * @param java the Java runtime, as text
 * @param transport {@code epoll} or {@code nio}
 * @param tls the TLS provider, as text
 */
public record ProxyStatus(
        String product,
        String version,
        State state,
        long uptimeSeconds,
        List<Listener> listeners,
        Connections connections,
        long requestsTotal,
        Cache cache,
        Config config,
        String java,
        String transport,
        String tls) {
    /** The state of the proxy. */
    public enum State {
        /** Not yet accepting. */
        STARTING,
        /** Accepting and serving. */
        RUNNING,
        /** An operator has started a drain, or the proxy finishes its requests and then stops. */
        DRAINING;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** A socket that accepts clients: {@code 0.0.0.0:8080} and {@code http} or {@code https}. */
    public record Listener(String address, String protocol) {}

    /** Open connections on either side. */
    public record Connections(long client, long origin) {}

    /** The cache: hits, misses, the RAM tier and the volumes. */
    public record Cache(long hitsTotal, long missesTotal, Tier ram, List<Volume> volumes) {}

    /** The use of the RAM tier: bytes and entries. */
    public record Tier(long bytes, long bytesMax, long entries) {}

    /** One storage path with its use and its state, such as {@code online}. */
    public record Volume(String path, String state, long bytes, long bytesMax, long entries) {}

    /**
     * The configuration in use.
     *
     * @param file path of the file; null for none
     * @param loadedAt time of loading, ISO 8601 in UTC
     * @param lastReload the latest attempt to reload; null before the first
     */
    public record Config(
            @Nullable String file,
            String loadedAt,
            @Nullable LastReload lastReload) {}

    /** An attempt to reload: whether it was applied, its time (ISO 8601 in UTC), and its problems. */
    public record LastReload(boolean ok, String at, List<String> problems) {}

    /** Writes the members of the status object. */
    public void write(JsonGenerator json) {
        json.writeStringProperty("product", product);
        json.writeStringProperty("version", version);
        json.writeStringProperty("state", state.word());
        json.writeNumberProperty("uptime_seconds", uptimeSeconds);
        json.writeArrayPropertyStart("listeners");
        for (Listener listener : listeners) {
            json.writeStartObject();
            json.writeStringProperty("address", listener.address());
            json.writeStringProperty("protocol", listener.protocol());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeObjectPropertyStart("connections");
        json.writeNumberProperty("client", connections.client());
        json.writeNumberProperty("origin", connections.origin());
        json.writeEndObject();
        json.writeNumberProperty("requests_total", requestsTotal);
        writeCache(json);
        writeConfig(json);
        json.writeStringProperty("java", java);
        json.writeStringProperty("transport", transport);
        json.writeStringProperty("tls", tls);
    }

    private void writeCache(JsonGenerator json) {
        json.writeObjectPropertyStart("cache");
        json.writeNumberProperty("hits_total", cache.hitsTotal());
        json.writeNumberProperty("misses_total", cache.missesTotal());
        json.writeObjectPropertyStart("ram");
        writeFill(json, cache.ram().bytes(), cache.ram().bytesMax(), cache.ram().entries());
        json.writeEndObject();
        json.writeArrayPropertyStart("volumes");
        for (Volume volume : cache.volumes()) {
            json.writeStartObject();
            json.writeStringProperty("path", volume.path());
            json.writeStringProperty("state", volume.state());
            writeFill(json, volume.bytes(), volume.bytesMax(), volume.entries());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void writeFill(JsonGenerator json, long bytes, long bytesMax, long entries) {
        json.writeNumberProperty("bytes", bytes);
        json.writeNumberProperty("bytes_max", bytesMax);
        json.writeNumberProperty("entries", entries);
    }

    /** Writes the member {@code config}. */
    public void writeConfig(JsonGenerator json) {
        json.writeObjectPropertyStart("config");
        json.writeStringProperty("file", config.file());
        json.writeStringProperty("loaded_at", config.loadedAt());
        LastReload last = config.lastReload();
        if (last == null) {
            json.writeNullProperty("last_reload");
        } else {
            json.writeObjectPropertyStart("last_reload");
            json.writeBooleanProperty("ok", last.ok());
            json.writeStringProperty("at", last.at());
            json.writeArrayPropertyStart("problems");
            for (String problem : last.problems()) {
                json.writeString(problem);
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndObject();
    }
}
