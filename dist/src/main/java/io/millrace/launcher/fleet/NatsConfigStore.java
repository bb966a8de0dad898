package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.config.ConfigStore;
import io.millrace.launcher.fleet.config.MissingPermissionException;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.KeyValue;
import io.nats.client.KeyValueManagement;
import io.nats.client.api.KeyValueConfiguration;
import io.nats.client.api.KeyValueEntry;
import io.nats.client.api.StorageType;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fleet's configuration in the key-value bucket {@code MILLRACE_FLEET_config} of the NATS servers. Creates the
 * bucket again if the servers have lost it. Thread-safe.
 */
final class NatsConfigStore implements ConfigStore {
    private static final Logger LOG = LoggerFactory.getLogger(NatsConfigStore.class);

    private static final int NOT_FOUND = 404;
    /** The server's error code for a change of an entry that does not have the expected version. */
    private static final int OTHER_VERSION = 10071;

    private final String bucket;
    private final KeyValueManagement management;
    private final KeyValueConfiguration bucketSettings;
    private final KeyValue entries;
    private final Supplier<String> refusedPermission;

    private NatsConfigStore(
            Connection connection, KeyValueConfiguration bucketSettings, Supplier<String> refusedPermission)
            throws IOException, JetStreamApiException {
        this.refusedPermission = refusedPermission;
        this.bucket = bucketSettings.getBucketName();
        this.bucketSettings = bucketSettings;
        this.management = connection.keyValueManagement();
        createIfMissing();
        this.entries = connection.keyValue(bucket);
    }

    /** A request to the servers. */
    @FunctionalInterface
    private interface Request<T> {
        T send() throws IOException, JetStreamApiException, InterruptedException;
    }

    /**
     * Opens the bucket, and creates it if it does not exist.
     *
     * @param refusedPermission returns the permissions that the servers have refused lately; empty for none
     * @throws FleetException if the servers refuse access to the bucket or its creation
     */
    static NatsConfigStore open(Connection connection, FleetConfig settings, Supplier<String> refusedPermission)
            throws IOException, FleetException {
        String bucket = "MILLRACE_" + settings.name() + "_config";
        KeyValueConfiguration bucketSettings = KeyValueConfiguration.builder()
                .name(bucket)
                .storageType(StorageType.File)
                .replicas(settings.replicas())
                .maxHistoryPerKey(1)
                .build();
        try {
            return new NatsConfigStore(connection, bucketSettings, refusedPermission);
        } catch (IOException e) {
            throw explained(e, refusedPermission);
        } catch (JetStreamApiException e) {
            throw new FleetException("bucket " + bucket + ": " + e.getMessage());
        } catch (IllegalStateException e) {
            throw new IOException("no NATS server is connected: " + e.getMessage(), e);
        }
    }

    /**
     * Returns a failure that names the refused permission, if the servers have refused one. A server does not answer a
     * message that it refuses, so {@code failure} itself does not show the reason.
     */
    private static IOException explained(IOException failure, Supplier<String> refusedPermission) {
        String refused = refusedPermission.get();
        return refused.isEmpty() ? failure : new MissingPermissionException(refused, failure);
    }

    /** Creates the bucket if it does not exist. Returns true if it did not exist. */
    private boolean createIfMissing() throws IOException, JetStreamApiException {
        try {
            management.getStatus(bucket);
            return false;
        } catch (JetStreamApiException e) {
            if (e.getErrorCode() != NOT_FOUND) {
                throw e;
            }
            management.create(bucketSettings);
            return true;
        }
    }

    /** Sends a request. If it fails because the servers have lost the bucket, creates the bucket again. */
    private <T> T request(Request<T> request) throws IOException {
        try {
            try {
                return request.send();
            } catch (JetStreamApiException | IOException e) {
                if (createIfMissing()) {
                    throw new BucketMissingException(
                            "bucket " + bucket + ": the servers have lost it; it was created again", e);
                }
                throw e;
            }
        } catch (JetStreamApiException e) {
            throw new IOException("bucket " + bucket + ": " + e.getMessage(), e);
        } catch (BucketMissingException e) {
            throw e;
        } catch (IOException e) {
            throw explained(e, refusedPermission);
        } catch (IllegalStateException e) {
            throw new IOException("no NATS server is connected: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /**
     * Sends a request that reads. Repeats it if the servers had lost the bucket and it was created again. Requests that
     * change an entry are not repeated, since a change may be part of a series.
     */
    private <T> T read(Request<T> request) throws IOException {
        try {
            return request(request);
        } catch (BucketMissingException e) {
            LOG.warn("{}", e.getMessage());
            return request(request);
        }
    }

    private static final class BucketMissingException extends IOException {
        private static final long serialVersionUID = 1;

        BucketMissingException(String message, Exception cause) {
            super(message, cause);
        }
    }

    @Override
    public @Nullable Entry get(String key) throws IOException {
        KeyValueEntry found = this.<@Nullable KeyValueEntry>read(() -> entries.get(key));
        byte[] value = found == null ? null : found.getValue();
        return found == null || value == null ? null : new Entry(value, found.getRevision());
    }

    @Override
    public boolean replace(String key, byte[] value, long version) throws IOException {
        return request(() -> {
            try {
                if (version == 0) {
                    entries.create(key, value);
                } else {
                    entries.update(key, value, version);
                }
                return true;
            } catch (JetStreamApiException e) {
                if (e.getApiErrorCode() == OTHER_VERSION) {
                    return false;
                }
                throw e;
            }
        });
    }

    @Override
    public void put(String key, byte[] value) throws IOException {
        request(() -> entries.put(key, value));
    }

    @Override
    public void delete(String key) throws IOException {
        request(() -> {
            entries.delete(key);
            return true;
        });
    }

    @Override
    public List<String> keys() throws IOException {
        return read(entries::keys);
    }
}
