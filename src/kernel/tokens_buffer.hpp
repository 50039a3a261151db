// Numbers in memory that grows where it lies: the system moves pages, not what is in them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace naively {

template <class T> class Buffer {
    static_assert(std::is_trivially_copyable<T>::value, "numbers are moved by realloc");

  public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~Buffer() { std::free(data_); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T* end() { return data_ + size_; }
    T* begin() { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

    // Makes room for so many more.
    void reserve(std::size_t n) {
        if (size_ + n > capacity_) grow(size_ + n);
    }
    // Makes room for so many in all, if there is so much memory.
    void expect(std::size_t n) {
        if (n > capacity_) resize(n);
    }
    // Gives back what is not used.
    void shrink() { resize(size_ + 1); }
    void append(const T* values, std::size_t n) {
        reserve(n);
        std::memcpy(static_cast<void*>(data_ + size_), values, n * sizeof(T));
        size_ += n;
    }
    void push_back(T value) {
        reserve(1);
        data_[size_++] = value;
    }
    void clear() { size_ = 0; }

  private:
    void grow(std::size_t least) {
        const std::size_t more = capacity_ + capacity_ / 2 + 1024;
        if (!resize(least > more ? least : more)) throw std::bad_alloc();
    }
    bool resize(std::size_t capacity) {
        void* moved = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
        if (!moved) return false;
        data_ = static_cast<T*>(moved);
        capacity_ = capacity;
        return true;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace naively
