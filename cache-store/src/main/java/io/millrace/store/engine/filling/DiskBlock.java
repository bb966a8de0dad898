package io.millrace.store.engine.filling;

import io.millrace.store.index.Location;

/**
 * A part of a block on disk that is to be read.
 *
 * @param number the block's
 * @param location where it lies, {@link Location#NONE} when it is to be looked up
 * @param tag of the segment there
 * @param from first byte within the block
 * @param length bytes wanted
 */
record DiskBlock(int number, long location, long tag, int from, int length) {}
