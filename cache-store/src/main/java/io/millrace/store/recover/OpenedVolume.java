package io.millrace.store.recover;

import io.millrace.store.disk.Volume;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The result of opening one configured volume: exactly one of volume and failure is non-null.
 *
 * @param spec the specification of the volume
 * @param volume the volume, not started
 * @param kept whether its content is valid; false for a volume that starts empty
 * @param failure reason why it could not be opened
 */
public record OpenedVolume(
        VolumeSpec spec,
        @Nullable Volume volume,
        boolean kept,
        @Nullable IOException failure) {}
