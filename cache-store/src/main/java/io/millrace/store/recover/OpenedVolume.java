package io.millrace.store.recover;

import io.millrace.store.disk.Volume;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The result of opening one configured volume. Either the volume or the failure is null.
 *
 * @param spec the specification of the volume
 * @param volume the volume, whose threads are not started yet; null after a failure
 * @param kept true if the content of the volume is valid; false if the volume starts empty
 * @param failure reason why the volume could not be opened; null on success
 */
public record OpenedVolume(
        VolumeSpec spec,
        @Nullable Volume volume,
        boolean kept,
        @Nullable IOException failure) {}
