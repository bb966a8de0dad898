package io.millrace.store.recover;

import io.millrace.store.disk.Volume;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What became of one configured volume: exactly one of volume and failure is there.
 *
 * @param spec what it shall be
 * @param volume the volume, not yet started
 * @param kept whether its content counts; false for one that begins empty
 * @param failure why there is none
 */
public record OpenedVolume(
        VolumeSpec spec,
        @Nullable Volume volume,
        boolean kept,
        @Nullable IOException failure) {}
