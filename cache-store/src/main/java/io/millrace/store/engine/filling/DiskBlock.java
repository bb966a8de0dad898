package io.millrace.store.engine.filling;

import io.millrace.store.index.Location;

/**
 * The part of a block on disk that is to be read.
 *
 * @param number number of the block
 * @param location its location, {@link Location#NONE} if it must be looked up
 * @param tag tag of the segment at that location
 * @param from first byte within the block
 * @param length number of bytes wanted
 */
record DiskBlock(int number, long location, long tag, int from, int length) {}
