package io.millrace.proxy.config;

import java.nio.file.Path;

/**
 * One volume of the cache on disk. Immutable.
 *
 * @param path absolute directory
 * @param sizeBytes disk space that it takes
 */
public record StorageConfig(Path path, long sizeBytes) {
    static StorageConfig from(ConfigValues element) {
        return new StorageConfig(element.get(ConfigKeys.STORAGE_PATH), element.get(ConfigKeys.STORAGE_SIZE));
    }
}
